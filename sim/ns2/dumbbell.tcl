# SPDX-License-Identifier: MPL-2.0
# n flows of one kind over one bottleneck: packets acknowledged per flow, drops
# and reductions of the window, between warm and duration; with sample, also how
# many of the first flow's are acknowledged, every so many seconds.
source [file join [file dirname [info script]] common.tcl]
array set opt {agent Reno n 30 window 10 rate 1.5Mb delay 20ms queue 400
    packet 1500 access 10Mb access_delay 2ms duration 500 warm 50 stagger 0
    era now seed 1 loss 0 red 0 fix 1 maxrto 60 sample 0
    exit_fix 0}
take_options
take_era $opt(era)
Agent/TCP set bugFix_ $opt(fix)
Agent/TCP set maxrto_ $opt(maxrto)
Agent/TCP/Newreno set exit_recovery_fix_ $opt(exit_fix)
set ns [new Simulator]
set r1 [$ns node]
set r2 [$ns node]
if {$opt(red)} {
    set mbit [string trimright $opt(rate) Mb]
    Queue/RED set bytes_ false
    Queue/RED set queue_in_bytes_ false
    Queue/RED set mean_pktsize_ $opt(packet)
    Queue/RED set thresh_ [expr {3 + 1.5 * $mbit}]
    Queue/RED set maxthresh_ [expr {10 + 5 * $mbit}]
}
set kind [expr {$opt(red) ? "RED" : "DropTail"}]
make_link $ns $r1 $r2 $opt(rate) $opt(delay) $opt(queue) $kind
if {$opt(loss) > 0} {
    set dice [new RandomVariable/Uniform]
    $dice use-rng $luck
    set errors [new ErrorModel]
    $errors unit pkt
    $errors set rate_ $opt(loss)
    $errors ranvar $dice
    $errors drop-target [new Agent/Null]
    $ns link-lossmodel $errors $r1 $r2
}
set monitor [$ns monitor-queue $r1 $r2 ""]
for {set i 0} {$i < $opt(n)} {incr i} {
    set from [$ns node]
    set to [$ns node]
    make_link $ns $from $r1 $opt(access) $opt(access_delay)
    make_link $ns $r2 $to $opt(access) $opt(access_delay)
    lassign [make_flow $ns $from $to $opt(agent) $opt(window) $opt(packet)] \
        tcp($i) ftp
    $ns at [expr {$opt(stagger) * [$luck uniform 0 1]}] "$ftp start"
}
proc reductions {} {
    global opt tcp
    set sum 0
    for {set i 0} {$i < $opt(n)} {incr i} {
        incr sum [$tcp($i) set ncwndcuts_]
    }
    return $sum
}
proc timeouts {} {
    global opt tcp
    set sum 0
    for {set i 0} {$i < $opt(n)} {incr i} {
        incr sum [$tcp($i) set nrexmit_]
    }
    return $sum
}
proc begin {} {
    global opt tcp monitor before dropped cut late
    set late [timeouts]
    for {set i 0} {$i < $opt(n)} {incr i} {
        set before($i) [packets_acked $tcp($i)]
    }
    set cut [reductions]
    set dropped [$monitor set pdrops_]
}
proc finish {} {
    global opt tcp monitor before dropped cut late places
    set counts {}
    for {set i 0} {$i < $opt(n)} {incr i} {
        lappend counts [expr {[packets_acked $tcp($i)] - $before($i)}]
    }
    if {$opt(sample) > 0} {
        puts -nonewline "places=[join $places ,] "
    }
    puts "counts=[join $counts ,] drops=[expr {[$monitor set pdrops_] - $dropped}]\
          cuts=[expr {[reductions] - $cut}] timeouts=[expr {[timeouts] - $late}]"
    exit 0
}
set places {}
proc look {} {
    global ns opt tcp places
    lappend places [packets_acked $tcp(0)]
    $ns at [expr {[$ns now] + $opt(sample)}] look
}
if {$opt(sample) > 0} {
    $ns at 0 look
}
$ns at $opt(warm) begin
$ns at $opt(duration) finish
$ns run
