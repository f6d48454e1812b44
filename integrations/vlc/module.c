/* SPDX-License-Identifier: MPL-2.0 */
/* VLC 3: tltcp:// as a source, and access=tltcp in stream output. */
#include "integrations/vlc/vlc_tltcp.h"

#include <vlc_plugin.h>

/* Macros without semicolons. */
/* clang-format off */
vlc_module_begin()
    set_shortname(VLC_TLTCP_NAME)
    set_description("Live streams by TLTCP")
    set_category(CAT_INPUT)
    set_subcategory(SUBCAT_INPUT_ACCESS)
    set_capability("access", 0)
    add_shortcut("tltcp")
    set_callbacks(vlc_tltcp_open_access, vlc_tltcp_close_access)
    add_submodule()
    set_shortname(VLC_TLTCP_NAME)
    set_description("Live streams by TLTCP, output")
    set_category(CAT_SOUT)
    set_subcategory(SUBCAT_SOUT_ACO)
    set_capability("sout access", 0)
    add_shortcut("tltcp")
    set_callbacks(vlc_tltcp_open_output, vlc_tltcp_close_output)
vlc_module_end()
    /* clang-format on */
