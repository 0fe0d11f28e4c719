"""Rows about who ended the run: time limits, preemption, people. Pure."""

from __future__ import annotations

from onbox.triage.rules.rows import ASKED, REASON, RuleRow

LIMITS: tuple[RuleRow, ...] = (
    RuleRow(
        "timeout-tool",
        "time_limit",
        REASON,
        "sending signal|killed",
        r"^timeout: sending signal \w{1,40} to command"
        r"|\btimeout (?:has )?(?:killed|stopped|ended) (?:the |its )?\w+ \(124\)"
        r"|: line \d{1,7}: \s{0,8}\d{1,9} Killed\s{1,40}timeout (?:-\S{1,40} (?:KILL |9 )?){0,4}\d",
        "timeout(1) of coreutils with --verbose",
        "timeout: sending signal TERM to command 'bash'",
    ),
    RuleRow(
        "time-limit",
        "time_limit",
        REASON,
        "time limit|timed out|status|timeout|timelimit|runlimit|walltime|wall time|time-limit|wallclock"
        "|deadlineexceeded|active deadline|time allotted|timeout|deadline|time out|exceeded limit|h_rt"
        "|execution time|run time|runtime|wall-clock|run limit|limit of|rc=|rc:|rc |took longer|budget",
        r"due to time limit|\|TIMEOUT\b|TERM_RUNLIMIT|walltime.{0,60}(?:exceed|limit reached|expired|over)"
        r"|exceed.{0,44}max\w{0,8} (?:allowed )?(?:execution|run) ?time|exceed.{0,34}(?:wall ?time"
        r"|wall-?clock|time limit|run ?time limit|allotted time)|(?:job|step|task|run|allocation)\b.{0,60}"
        r"(?:reached|hit|exceeded|over|past)\b.{0,20}(?:its |the )?(?:time|wall|run|runtime) ?-?(?:limit|time"
        r"|clock)|state[ :=]+TIMEOUT\b|(?<!exceptions\.)(?<!errors_impl\.)(?<!code = )DeadlineExceeded"
        r"|active(?:[ _])?deadline|TimeLimit\b.{0,20}(?:reached"
        r"|exceeded)|reached (?:slurm )?time limit"
        r"|\bPBS: job killed: walltime|\b(?:killed|stopped|terminated|aborted|cancelled) (?:because|since|as) "
        r"(?:it|they) (?:has |have |had )?timed out|\bkilled by (?:the )?time ?out\b"
        r"|(?:job|task|pipeline|execution).{0,30}(?:timed out"
        r"|took too long) after.{0,30}(?:hour|min|sec|\d[hms]\b)|maximum (?:allowed )?(?:run ?time"
        r"|execution time|duration).{0,30}(?:exceed|reach)|(?<!--)run[ -]?time limit (?:reached|exceeded)"
        r"|\b(?:attempt|job|run|task) duration exceeded\b|\bh_rt\b.{0,30}exceed|exit(?:ed)?.{0,20}(?:code"
        r"|status)\D{0,4}124\b|\bstatus 124\b|\brc[ =:]{1,3}124\b"
        r"|\b(?:Function|Cell|Job|Run|Execution)Timeout(?:Error|Exception)\b|\bhit its timeout of \d"
        r"|^timeout: sending signal"
        r"|\blimit of \d{1,4}(?::\d\d){1,2}\b.{0,20} (?:reached|exceeded)|\bmax(?:imum)? ?run ?time ?exceeded"
        r"|\b(?:job|task|run|step|execution|command|script)\b.{0,24}\btook longer than \d"
        r"|\b(?:wall-?(?:clock|time)?|run-?time)[ -]budget\b.{0,24} (?:exhausted|exceeded|used up|spent|is up)"
        r"|(?<!--run-)(?<!shutdown )time limit.{0,40}(?:exceeded|expired|reached)(?!.{0,60}signaling)"
        r"|time limit\b.{0,40}\b(?:near|close|approaching)\b"
        r"|wall-?(?:clock|time) limit",
        "Slurm, LSF, PBS, Kubernetes, timeout(1)",
        "slurmstepd: error: *** JOB 71 ON n3 CANCELLED AT 2024-02-02T12:00:01 DUE TO TIME LIMIT ***",
        True,
    ),
    RuleRow(
        "preempted",
        "preempted",
        REASON,
        "preempt|requeue|spot|evict|reclaim|interruption|node failure|node_fail|drain|maintenance|capacity"
        "|instance|shutdown|terminated by|due to node|host error|job requeue|scale-down|nodelost|nodeshutdown"
        "|low on resource|disruptiontarget|noexecute|deletionbytaint|bykubelet|byscheduler|evictionapi",
        r"due to (?:preemption|job requeue)|cancelled at.{0,40}due to node failure|^preempted (?:to|by|for)\b"
        r"|(?-i:\bPREEMPTED\b|\bNODE_FAIL\b)|state[ :=]+(?:PREEMPTED|NODE_FAIL)|(?:job|node|vm"
        r"|instance|worker|machine|task|pod|this)\b.{0,50}(?:\b(?:is|was|being|been|will be"
        r"|gets?) )(?:\w{1,40} )?(?:preempted|evicted|reclaimed|drained)(?!,? (?:or|had)\b)|\b(?:is|was|were|being|been"
        r"|got|gets)(?: \w{1,40})? preempted(?!,? (?:or|had)\b)|\bTERM_PREEMPT"
        r"|(?:spot|instance|ec2|preemptible|cloud|vm|host).{0,50}(?:interruption|terminat(?!ed: lost contact)|reclaim"
        r"|preempt(?!_DYNAMIC|_RT|ion (?:model|watch|check|monitor|handl))|shutdown|shutting)|(?:preempt\w{0,24}"
        r"|eviction|termination|interruption"
        r"|reclaim)\b.{0,20}(?:notice|signal|event|warning|received|detected|requested|imminent)"
        r"|received.{0,30}preempt|caught.{0,30}preempt"
        r"|\bEvicted\b(?!\s*$|.{0,120}low on resource: (?:ephemeral-storage|nodefs|imagefs|inodes)\b)"
        r"|(?:pod|node) (?:was )?evict|preempted by"
        r"|preempting|^the node was low on resource(?!: (?:ephemeral-storage|nodefs|imagefs|inodes)\b)"
        r"|instance-action|\beventtype\W{1,4}(?:preempt|terminate|redeploy)"
        r"|\binstance/preempted\W{1,3}true|(?-i:DisruptionTarget|DeletionByTaintManager|PreemptionByScheduler"
        r"|EvictionByEvictionAPI"
        r"|TerminationByKubelet|DeletionByPodGC)\b|\bNoExecute taint|InstanceTermination|NodeLost|NodeShutdown"
        r"|(?<!trial )Terminated by.{0,30}(?:scheduler|cloud|node)|compute instance.{0,40}terminat|system reclaim",
        "Slurm, Kubernetes, spot instances, submitit",
        "slurmstepd: error: *** JOB 31 ON d3 CANCELLED AT 2025-10-30T05:33:43 DUE TO PREEMPTION ***",
        True,
    ),
)

PEOPLE: tuple[RuleRow, ...] = (
    RuleRow(
        "cancelled",
        "user_interrupt",
        ASKED + 5,
        "by the user|by user)|requested|asked to|pressed|cancelled|canceled|scancel|term_owner|bkill|qdel|cancelling"
        "|killed by user|stopped by|deleted|window-close"
        "|aborted by|force|manual|user request|user's request",
        r"\*\*\* (?:job|step) .{0,120}cancelled at|cancelled by \d+|state[ :=]+CANCELLED|TERM_(?:OWNER|ADMIN"
        r"|FORCE_\w{1,40})|(?:cancel\w{0,24}|stopped|killed|aborted|terminated|interrupted|deleted"
        r"|ended) by (?:the )?(?:user|owner|admin|operator|request|hand|scancel|bkill|qdel)"
        r"|job (?:was |has been )?cancell?ed\b|job deleted|(?:manual|user)(?:ly)?[- ](?:request\w{0,24} )?(?:abort"
        r"|stop|cancel|interrupt|terminat)\w{0,24}|user requested(?! \S{1,80}[=<>~]=)"
        r"|^aborted by (?!(?:signal|the|an?|error|scheduler|slurm|kernel|system)\b)\w"  # of Jenkins, with the name
        r"|\bcontext canceled\W{0,3}$|^forrtl: error \(200\): program aborting due to window-CLOSE"
        r"|##\[error\]the operation was cancell?ed"
        r"|(?:on|by|at|upon) user(?:'s)? request|run (?:was )?(?:cancell?ed|stopped) (?:from|via)"
        r"|\bby user\)|\buser \S{1,40} (?:has )?(?:requested|asked|pressed|hit|sent) (?:a |to )?(?:stop|cancel|abort"
        r"|kill)",
        "Slurm, LSF, web consoles",
        "slurmstepd: error: *** JOB 267 ON dgx-06 CANCELLED AT 2025-08-21T02:53:05 ***",
        True,
    ),
    RuleRow(
        "interrupted",
        "user_interrupt",
        ASKED,
        "keyboardinterrupt|interruptexception|aborted!|sigint|ctrl|interrupt|^c|signal|exit|user request|request"
        "|web interface|web ui|dashboard| console",
        r"KeyboardInterrupt\b(?!.{0,30}to stop)|\bInterruptException\b|(?:received|got|caught|sending|signal|by"
        r"|on)\b.{0,30}\bSIGINT\b|\^C\s{0,8}(?:$|traceback)|^\^C|ctrl[-+ ]c (?:pressed|received|detected|caught)"
        r"|(?:pressed|received|detected|caught|hit|typed|sent) ctrl[-+ ]c|got signal: 2\b"
        r"|received (?:signal )?2 (?:death )?signal|(?<!defined )signal 2\b"
        r"|(?:training|run|process|execution) (?:was )?interrupted(?: by (?:user|keyboard))?|^interrupted[,;:.]\s"
        r"|\bterminating processes on user request\b|interrupted by (?:user|signal 2|keyboard)"
        r"|detected keyboardinterrupt|(?:^|: |[.!?] )\W{0,4}aborted!$"
        r"|^g?make.{0,60}\b(?:interrupt|error 130)$|ctrl ?\+ ?c (?:was )?(?:pressed|received|detected|caught)"
        r"|exit(?:ed)?.{0,20}(?:code|status)\D{0,4}(?:130|-2)\b|user interrupt"
        r"|\b(?:interrupt|INT|SIGINT) signal (?:was )?(?:received|caught|detected)"
        r"|\b(?:received|caught|got) (?:an? )?(?:\w{4,8} )?interrupt\b(?! request)|\binterrupt received\b"
        r"|\b(?:received|caught|got) (?:an? |the )?(?:interrupt|INT) signal"
        r"|\b(?:received|caught|got) signal\W{1,3}interrupt\b"
        r"|\bin [`'].{1,80}': Interrupt$|^command terminated by signal 2$"
        r"|\b(?:cancel(?:l?ed|l?ing)?|stopp(?:ed|ing)|terminat(?:ed|ing|ion)|ended|aborted|killed|ending)\b"
        r".{0,60}\b(?:(?:on|at the|by) (?:user )?request(?: of \S{1,60})?(?=\W*$|[\s(,;:])"
        r"|(?:in|from|via|through) the (?:web|dashboard|console|\S{1,20} ui)\b)",
        "Python, shells, Lightning",
        "KeyboardInterrupt",
    ),
    RuleRow(
        "hangup",
        "user_interrupt",
        ASKED - 2,
        "hangup|sighup|signal",
        r"got signal: 1\b|\bSIGHUP\b.{0,40}|received (?:signal )?1 death signal|hangup\s{0,8}$",
        "a closed terminal",
        "SignalException: Process 7712 got signal: 1",
    ),
    RuleRow(
        "bare-terminated",
        "user_interrupt",
        ASKED - 5,
        "terminated|143",
        r"\b(?:exit(?:ed)?|rc ?=) ?143\W{0,3}$"
        r"|^\W{0,8}(?:.{0,120}: line \d+:\s{1,8}\d{1,20} |zsh: |.{0,200}\bsignal: )?terminated"
        r"(?:\s{2,20}\S.{0,400}|\.)?\s{0,8}$",
        "shells, of a process that somebody sent SIGTERM: a scheduler, a person, a tool that counts the time",
        "run.sh: line 7: 3191 Terminated              python train.py",
        rivals=("preempted", "time_limit"),
    ),
    RuleRow(
        "terminated-by-hand",
        "user_interrupt",
        ASKED,
        "sigterm|signal 15",
        r"\b(?:SIGTERM|signal 15)\b.{0,12}\b(?:from|by) (?:the |an? )?(?:operator|user|admin\w{0,10}|person|console)\b"
        r"|\b(?:SIGTERM|signal 15)\b.{0,40}\b(?:stopped|stop requested|requested|asked|sent) by (?:hand|(?:the |an? )?"
        r"(?:operator|user|admin\w{0,10}|person))\b",
        "scripts that know who sends SIGTERM",
        "received SIGTERM from operator (kill), stopping after this item",
    ),
    RuleRow(
        "terminated",
        "preempted",
        ASKED - 5,
        "sigterm|terminated|signal|sigusr|exit|sigxcpu|*** [",
        r"(?:received|got|caught|handling|by|trapped|on|with|signal)\b(?<!closing signal)(?<!via signal)"
        r".{0,30}\bSIG(?:TERM"
        r"|USR[12]|XCPU)\b|got signal: (?:15|10|12)\b|received (?:signal )?15\b"
        r"|^\W*(?:.{0,120}: line \d+:\s{1,8}\d{1,20} )?terminated\b(?!\w| at \w)|signal 15\b|exit(?:ed)?.{0,20}(?:code"
        r"|status)\D{0,4}(?:143|-15)\b|\*{3} \[.{1,160} error 143$"
        r"|SIGTERM(?: signal)? (?:received|caught)|\bSession aborted -- Cause: SIG(?:TERM|HUP)\b"
        r"|\btermination signal\W{0,3} (?:is |was )?(?:detected|received|caught)|^\s*SystemExit: (?:15|143)",
        "whoever sends SIGTERM",
        "Received SIGTERM: 15, shutting down",
    ),
)
