// SPDX-License-Identifier: MPL-2.0
module perigee.invalid/live

go 1.19
