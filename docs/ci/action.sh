#!/usr/bin/env bash
# The step of action.yml that runs interlock. The inputs come in the environment,
# never in the text of the script. It ends with 0; the last step of the action
# exits with the code that is handed on here.
set -uo pipefail

read -r -a more <<< "${ARGS:-}"
read -r -a scenarios <<< "${SCENARIOS:-}"
words=("$COMMAND")
case "$COMMAND" in
verify)
  words+=(${scenarios[@]+"${scenarios[@]}"} --github --out "$OUT")
  [ -z "${TARGET:-}" ] || words+=(--target "$TARGET")
  ;;
certify) words+=("$TO" --contract "$CONTRACT" --out "$OUT") ;;
gate)
  words+=(--from "$FROM" --to "$TO" --contract "$CONTRACT")
  [ -z "${CERTS:-}" ] || words+=(--certs "$CERTS")
  ;;
mutants) words+=(--out "$OUT") ;;
*)
  echo "::error title=interlock::command is \"$COMMAND\", but must be verify, certify, gate or mutants"
  words=()
  ;;
esac

code=64
if [ ${#words[@]} -gt 0 ]; then
  "$INTERLOCK" "${words[@]}" ${more[@]+"${more[@]}"}
  code=$?
fi
if [ "$COMMAND" != verify ] || ! grep -q '^exit-code=' "$GITHUB_OUTPUT" 2>/dev/null; then
  verdict=pass
  [ "$COMMAND" = gate ] && verdict=allow
  if [ $code -ne 0 ]; then
    case "$COMMAND:$code" in
    gate:*) verdict=deny ;;
    *:1) verdict=violation ;;
      *:2) verdict=inconclusive ;;
    *:64) verdict=usage ;;
    *) verdict=infrastructure ;;
    esac
  fi
  printf 'verdict=%s\nexit-code=%s\nreport=%s\n' "$verdict" "$code" "$OUT" >> "$GITHUB_OUTPUT"
fi
exit 0
