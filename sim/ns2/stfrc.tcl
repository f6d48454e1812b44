# SPDX-License-Identifier: MPL-2.0
# n flows of Sack1 and n of ns-2's TFRC over one bottleneck, the symmetric path
# of ../scenarios/stfrc.scn: packets delivered per flow over the last seconds,
# and the part of all packets that the bottleneck drops then.
source [file join [file dirname [info script]] common.tcl]
add-packet-header TFRC TFRC_ACK
array set opt {n 8 bw 16 red 1 packet 1040 duration 200 warm 140 stagger 5
    exit_delay 0 exit_spread 20 seed 1}
take_options
Agent/TFRC set packetSize_ [expr {$opt(packet) - 32}]; # headers take 32 bytes
set ns [new Simulator]
if {$opt(red)} {
    Queue/RED set bytes_ false
    Queue/RED set queue_in_bytes_ false
    Queue/RED set mean_pktsize_ $opt(packet)
    Queue/RED set thresh_ [expr {3 + 1.5 * $opt(bw)}]
    Queue/RED set maxthresh_ [expr {10 + 5 * $opt(bw)}]
}
set r1 [$ns node]
set r2 [$ns node]
make_link $ns $r1 $r2 $opt(bw)Mb 20ms [expr {int(25 * $opt(bw))}] \
    [expr {$opt(red) ? "RED" : "DropTail"}]
set monitor [$ns monitor-queue $r1 $r2 ""]
proc make_path {} {
    global ns r1 r2 opt luck
    set from [$ns node]
    set to [$ns node]
    make_link $ns $from $r1 100Mb 2ms
    make_link $ns $r2 $to 100Mb [expr {
        $opt(exit_delay) + $opt(exit_spread) * [$luck uniform 0 1]}]ms
    return [list $from $to]
}
proc start_soon {source} {
    global ns opt luck
    $ns at [expr {$opt(stagger) * [$luck uniform 0 1]}] "$source start"
}
for {set i 0} {$i < $opt(n)} {incr i} {
    lassign [make_path] from to
    lassign [make_flow $ns $from $to Sack1 10000 $opt(packet)] tcp($i) ftp
    start_soon $ftp
    lassign [make_path] from to
    set tfrc($i) [new Agent/TFRC]
    set sink($i) [new Agent/TFRCSink]
    $ns attach-agent $from $tfrc($i)
    $ns attach-agent $to $sink($i)
    $ns connect $tfrc($i) $sink($i)
    start_soon $tfrc($i)
}
proc counts {} {
    global opt tcp sink
    set all {}
    for {set i 0} {$i < $opt(n)} {incr i} {
        lappend all [packets_acked $tcp($i)] \
            [expr {[$sink($i) set bytes_] / $opt(packet)}]
    }
    return $all
}
proc begin {} {
    global monitor before dropped arrived
    set before [counts]
    set dropped [$monitor set pdrops_]
    set arrived [$monitor set parrivals_]
}
proc finish {} {
    global monitor before dropped arrived
    set got(tcp) {}
    set got(tfrc) {}
    foreach {tcp_then tfrc_then} $before {tcp_now tfrc_now} [counts] {
        lappend got(tcp) [expr {$tcp_now - $tcp_then}]
        lappend got(tfrc) [expr {$tfrc_now - $tfrc_then}]
    }
    puts "tcp=[join $got(tcp) ,] tfrc=[join $got(tfrc) ,]\
          drops=[expr {[$monitor set pdrops_] - $dropped}]\
          offered=[expr {[$monitor set parrivals_] - $arrived}]"
    exit 0
}
$ns at $opt(warm) begin
$ns at $opt(duration) finish
$ns run
