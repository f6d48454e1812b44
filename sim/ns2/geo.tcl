# SPDX-License-Identifier: MPL-2.0
# The GEO scenario of sim/scenarios/geo.scn with ns-2's agents: packets
# acknowledged per group and phase.
source [file join [file dirname [info script]] common.tcl]
array set opt {agent Reno n 15 window 20 queue 50 udp 1Mb packet 1040 phase 2000
    stagger 1 hop 263.7ms seed 1}
take_options
set ns [new Simulator]
foreach name {a b r1 r2 s t} { set $name [$ns node] }
make_link $ns $a $r1 20Mb 10ms
make_link $ns $b $r1 20Mb 10ms
make_link $ns $r1 $r2 2Mb 10ms $opt(queue)
make_link $ns $r2 $s 20Mb $opt(hop)
make_link $ns $r2 $t 20Mb 10ms
set monitor [$ns monitor-queue $r1 $r2 ""]
foreach {group from to start} [list sat $a $s 0 ter $b $t $opt(phase)] {
    for {set i 0} {$i < $opt(n)} {incr i} {
        lassign [make_flow $ns $from $to $opt(agent) $opt(window) \
                     $opt(packet)] tcp($group,$i) ftp
        $ns at [expr {$start + $opt(stagger) * [$luck uniform 0 1]}] \
            "$ftp start"
    }
}
set udp [new Agent/UDP]
$udp set packetSize_ 1000
set null [new Agent/Null]
$ns attach-agent $b $udp
$ns attach-agent $t $null
$ns connect $udp $null
set cbr [new Application/Traffic/CBR]
$cbr set packetSize_ 1000
$cbr set rate_ $opt(udp)
$cbr attach-agent $udp
$ns at [expr {2 * $opt(phase)}] "$cbr start"
proc total {group} {
    global opt tcp
    set sum 0
    for {set i 0} {$i < $opt(n)} {incr i} {
        incr sum [packets_acked $tcp($group,$i)]
    }
    return $sum
}
set words {}
foreach group {sat ter drops} { set last($group) 0 }
proc mark {phase} {
    global last words monitor
    foreach group {sat ter drops} {
        set now [expr {$group eq "drops" ? [$monitor set pdrops_]
                                         : [total $group]}]
        lappend words "$group$phase=[expr {$now - $last($group)}]"
        set last($group) $now
    }
}
foreach phase {1 2 3} { $ns at [expr {$phase * $opt(phase)}] "mark $phase" }
$ns at [expr {3 * $opt(phase)}] {puts $words; exit 0}
$ns run
