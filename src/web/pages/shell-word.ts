/**
 * Writes a text as one word of a shell's command, without line breaks.
 *
 * SECURITY: names of branches, packages and versions come from others, and people paste the
 * commands of a page into a shell.
 */
export function toShellWord(text: string): string {
  const word = text.replaceAll(/[\r\n]/g, "");
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
