#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A test that reports nothing and claims success.
exit 0
