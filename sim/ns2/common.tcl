# SPDX-License-Identifier: MPL-2.0
# What the scripts for ns-2 share: ns SCRIPT.tcl NAME=VALUE ... prints one line
# of NAME=VALUE.

remove-all-packet-headers
add-packet-header IP TCP Flags RTP

# Takes the command line into the array opt, which holds the defaults.
proc take_options {} {
    global argv opt
    foreach word $argv {
        set at [string first = $word]
        set name [string range $word 0 [expr {$at - 1}]]
        if {$at < 1 || ![info exists opt($name)]} {
            error "no option $word; there are [lsort [array names opt]]"
        }
        set opt($name) [string range $word [expr {$at + 1}] end]
    }
    global defaultRNG luck
    $defaultRNG seed [expr {$opt(seed) + 100}]
    set luck [new RNG]
    $luck seed [expr {$opt(seed) + 5000}]
}

# The TCP of about 2000: ns-default.tcl tells what its defaults were.
proc take_era {era} {
    if {$era eq "2000"} {
        Agent/TCP set tcpTick_ 0.1
        Agent/TCP set windowInit_ 1
        Agent/TCP set minrto_ 0
        Agent/TCP set rtxcur_init_ 6.0
        Agent/TCP set singledup_ 0
        Agent/TCP set rfc2988_ false
        Agent/TCP set updated_rttvar_ false
        Agent/TCP set precisionReduce_ false
        Agent/TCP set syn_ false
        Agent/TCP set delay_growth_ false
    } elseif {$era eq "plain"} {
        # 2.35 without limited transmit
        Agent/TCP set singledup_ 0
    } elseif {$era ne "now"} {
        error "era must be now, plain or 2000"
    }
}

# A controller of Linux over Linux's SACK recovery; Linux's Westwood is Westwood+.
# Windows of some thousand packets end ns-2.
proc make_linux {ns controller window wire} {
    set tcp [new Agent/TCP/Linux]
    set sink [new Agent/TCPSink/Sack1]
    $tcp set timestamps_ true
    $sink set ts_echo_rfc1323_ true
    $tcp set packetSize_ [expr {$wire - 50}]; # the option takes ten bytes
    $tcp set window_ [expr {min($window, 1000)}]
    $ns at 0 "$tcp select_ca $controller"
    return [list $tcp $sink]
}

# A sender of packets of `wire` bytes, 40 of them headers, from one node to
# another.
proc make_flow {ns from to agent window wire} {
    if {[string match Linux-* $agent]} {
        lassign [make_linux $ns [string range $agent 6 end] $window $wire] \
            tcp sink
    } else {
        lassign [make_agent $agent $window $wire] tcp sink
    }
    $ns attach-agent $from $tcp
    $ns attach-agent $to $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    return [list $tcp $ftp]
}

proc make_agent {agent window wire} {
    set class [expr {$agent eq "Tahoe" ? "Agent/TCP" : "Agent/TCP/$agent"}]
    set tcp [new $class]
    set sink [new [expr {$agent eq "Sack1" ? "Agent/TCPSink/Sack1"
                                           : "Agent/TCPSink"}]]
    # Vegas alone sends packetSize_ bytes, headers included.
    $tcp set packetSize_ [expr {$agent eq "Vegas" ? $wire : $wire - 40}]
    $tcp set window_ $window
    return [list $tcp $sink]
}

# A duplex link whose queues never overflow unless a limit is given.
proc make_link {ns a b rate delay {limit 100000} {kind DropTail}} {
    $ns duplex-link $a $b $rate $delay $kind
    $ns queue-limit $a $b $limit
    $ns queue-limit $b $a $limit
}

proc packets_acked {tcp} {
    set n [$tcp set ack_]
    return [expr {$n > 0 ? $n : 0}]
}
