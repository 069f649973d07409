#!/bin/sh
# interlock in any CI that runs a shell. Infrastructure (exit 3) is tried once
# more; a violation or an inconclusive run never is.
set -u
INTERLOCK="${INTERLOCK:-interlock}"

"$INTERLOCK" verify ${TARGET:+--target "$TARGET"} --out "${OUT:-interlock-out/ci}" "$@"
code=$?
if [ "$code" -eq 3 ]; then
  "$INTERLOCK" verify ${TARGET:+--target "$TARGET"} --out "${OUT:-interlock-out/ci}-again" "$@"
  code=$?
fi
[ "$code" -eq 0 ] || exit "$code"

[ -z "${TO:-}" ] || "$INTERLOCK" gate --from "$FROM" --to "$TO" --contract "$CONTRACT"
