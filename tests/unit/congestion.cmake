# SPDX-License-Identifier: MPL-2.0
# The controllers and their machinery against tests/data/congestion.
function(congestion_test name)
    perigee_unit_test(congestion_${name}
        SOURCES congestion/${name}.c congestion/rig.c congestion/vectors.c
        LINK congestion_objects
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/tests/data/congestion)
endfunction()

congestion_test(auto)
congestion_test(bandwidth_based)
congestion_test(bbr)
congestion_test(cubic)
congestion_test(delay_based)
congestion_test(loss_based)
congestion_test(machinery)
congestion_test(properties)
congestion_test(recovery)
congestion_test(recovery_period)
congestion_test(tfrc)
