/** The paths of files that name code owners; the first file that exists counts. */
export const CODE_OWNERS_PATHS = ["CODEOWNERS", "docs/CODEOWNERS", ".gitea/CODEOWNERS"] as const;

/** Maximum size of the file, and rules that are read. */
export const CODE_OWNERS_BYTES_MAX = 256 * 1024;
const RULES_MAX = 1000;

/** A line of a file of code owners. */
export interface CodeOwnerRule {
  /** The source of a regular expression for whole paths. */
  readonly pattern: string;
  /** Whether it is for the paths that the pattern does not match. */
  readonly isNegated: boolean;
  readonly users: readonly string[];
  readonly teams: readonly { readonly org: string; readonly name: string }[];
}

/**
 * Parses a file of code owners as Gitea does: a regular expression and owners on each line, `@user`
 * or `@org/team`. `#` begins a comment, and a backslash takes its meaning from it, from a space and
 * from itself. A line without owners is ignored.
 */
export function parseCodeOwners(text: string): CodeOwnerRule[] {
  const rules: CodeOwnerRule[] = [];
  for (const line of text.split("\n")) {
    const [first, ...owners] = splitLine(line.trim());
    if (first === undefined || owners.length === 0) continue;
    const names = owners.map((owner) => owner.replace(/^@/, "")).filter((name) => name !== "");
    const isNegated = first.startsWith("!");
    rules.push({
      pattern: `^${isNegated ? first.slice(1) : first}$`,
      isNegated,
      users: names.filter((name) => !name.includes("/")),
      teams: names.flatMap((name) => {
        const [org = "", team = "", ...rest] = name.split("/");
        return name.includes("/") && rest.length === 0 ? [{ org, name: team }] : [];
      }),
    });
    if (rules.length === RULES_MAX) break;
  }
  return rules;
}

function splitLine(line: string): string[] {
  const words: string[] = [];
  let word = "";
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    const next = line.charAt(at + 1);
    if (char === "\\" && (next === "#" || next === " " || next === "\\")) {
      // A pattern keeps its own backslashes: only an escaped one is two characters of the file.
      word += next === "\\" ? "\\" : next;
      at++;
    } else if (char === "#") {
      break;
    } else if (char === " " || char === "\t") {
      if (word !== "") words.push(word);
      word = "";
    } else {
      word += char;
    }
  }
  if (word !== "") words.push(word);
  return words;
}
