# SPDX-License-Identifier: MPL-2.0
# Three flows of different delays, which come and go in steps, as in
# ../scenarios/yam-fast.scn: packets acknowledged per flow and step.
source [file join [file dirname [info script]] common.tcl]
array set opt {agent Reno rate 400 window 3000 queue 2000 packet 1040 share 0.5
    step 1800 seed 1}
take_options
set ns [new Simulator]
set r1 [$ns node]
set r2 [$ns node]
make_link $ns $r1 $r2 $opt(rate)Mb 1ms $opt(queue)
foreach {flow ms start} {one 100 0 two 150 1 three 200 2} {
    set from [$ns node]
    set to [$ns node]
    make_link $ns $from $r1 1000Mb [expr {$ms * $opt(share) - 2}]ms
    make_link $ns $r2 $to 1000Mb 1ms
    lassign [make_flow $ns $from $to $opt(agent) $opt(window) $opt(packet)] \
        tcp($flow) ftp
    $ns at [expr {$start * $opt(step)}] "$ftp start"
    if {$flow eq "three"} {
        $ns at [expr {3 * $opt(step)}] "$ftp stop"
    }
    set last($flow) 0
}
set words {}
proc mark {step} {
    global tcp last words
    set counts {}
    foreach flow {one two three} {
        set now [packets_acked $tcp($flow)]
        lappend counts [expr {$now - $last($flow)}]
        set last($flow) $now
    }
    lappend words "step$step=[join $counts ,]"
}
foreach step {1 2 3 4} { $ns at [expr {$step * $opt(step)}] "mark $step" }
$ns at [expr {4 * $opt(step)}] {puts $words; exit 0}
$ns run
