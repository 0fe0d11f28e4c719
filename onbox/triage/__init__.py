"""Why a stage died: classes, remedies, and the evidence that tells them apart. Pure."""
