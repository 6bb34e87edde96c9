/** Shells that words can be completed in. */
export const shells = ["bash", "zsh", "fish", "powershell"] as const;

export type Shell = (typeof shells)[number];

/**
 * The script for a shell, which asks the program itself for what may come next: `complete SHELL .CURRENT WORD...`, with
 * the word that is being typed after a dot, because some shells leave empty arguments out. `run` is the program and
 * its file.
 */
export function toCompletionScript(shell: Shell, run: readonly string[]): string {
  const scripts: Readonly<Record<Shell, () => string>> = {
    bash: () => toBash(run.map(quote).join(" ")),
    zsh: () => toZsh(run.map(quote).join(" ")),
    fish: () => toFish(run.map(quoteForFish).join(" ")),
    powershell: () => toPowershell(run.map(quoteForPowershell).join(" ")),
  };
  return scripts[shell]();
}

/**
 * bash splits words at `:` and `=`, and replaces only the last piece: the program is given the whole line, and the
 * characters to split at. Where it knows nothing, files are offered.
 */
function toBash(run: string): string {
  return `_toolyard() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(${run} complete bash "\${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -F _toolyard toolyard
`;
}

function toZsh(run: string): string {
  return `#compdef toolyard
_toolyard() {
  local -a plain open shown
  local value about
  while IFS=$'\\t' read -r value about; do
    if [[ $value == *= ]]; then open+=("$value"); else plain+=("$value"); shown+=("$value  $about"); fi
  done < <(${run} complete zsh ".\${(Q)words[CURRENT]}" "\${(@Q)words[2,CURRENT-1]}" 2>/dev/null)
  (( \${#plain} + \${#open} )) || { _files; return }
  (( \${#open} )) && compadd -S '' -a open
  (( \${#plain} )) && compadd -l -d shown -a plain
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _toolyard "$@"; else compdef _toolyard toolyard; fi
`;
}

function toFish(run: string): string {
  return `function __toolyard_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  ${run} complete fish ".$current" $words[2..] 2>/dev/null
end
complete -c toolyard -f -a '(__toolyard_complete)'
complete -c toolyard -l config -r -F
complete -c toolyard -l data-dir -r -F
complete -c toolyard -l output -r -F
`;
}

function toPowershell(run: string): string {
  return `Register-ArgumentCompleter -Native -CommandName toolyard -ScriptBlock {
  param($current, $ast, $position)
  $words = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($current -ne '' -and $words.Count -gt 0) { $words = @($words | Select-Object -SkipLast 1) }
  & ${run} complete powershell ".$current" @words 2>$null | ForEach-Object {
    $value, $about = $_ -split "\`t", 2
    if (-not $about) { $about = $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
  }
}
`;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function quoteForFish(word: string): string {
  return `'${word.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

function quoteForPowershell(word: string): string {
  return `'${word.replaceAll("'", "''")}'`;
}
