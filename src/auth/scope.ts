/** What a token may be used for. The order is the one tokens are stored and shown in. */
export const SCOPE_CATEGORIES = [
  "activitypub",
  "admin",
  "misc",
  "notification",
  "organization",
  "package",
  "issue",
  "repository",
  "user",
] as const;
type ScopeCategory = (typeof SCOPE_CATEGORIES)[number];
export type Scope = `${"read" | "write"}:${ScopeCategory}`;

/** What a credential allows: a level for each category, and whether public things only. */
export interface Scopes {
  levels: ReadonlyMap<ScopeCategory, "read" | "write">;
  isPublicOnly: boolean;
  /** As stored and shown. */
  text: string;
}

const isCategory = (text: string): text is ScopeCategory =>
  (SCOPE_CATEGORIES as readonly string[]).includes(text);

/**
 * Reads a list of scope names: duplicates and empty items go, write includes read, and all nine
 * written are `all`.
 *
 * @returns The scopes, or the first name that is none.
 */
export function parseScopes(names: readonly string[]): Scopes | { unknown: string } {
  const levels = new Map<ScopeCategory, "read" | "write">();
  let isPublicOnly = false;
  for (const name of names) {
    const [level = "", category = ""] = name.split(":", 2);
    if (name === "") continue;
    else if (name === "public-only") isPublicOnly = true;
    else if (name === "all") for (const each of SCOPE_CATEGORIES) levels.set(each, "write");
    else if (name !== `${level}:${category}` || !isCategory(category)) return { unknown: name };
    else if (level === "write") levels.set(category, "write");
    else if (level !== "read") return { unknown: name };
    else if (!levels.has(category)) levels.set(category, "read");
  }
  return { levels, isPublicOnly, text: formatScopes(levels, isPublicOnly) };
}

function formatScopes(levels: Scopes["levels"], isPublicOnly: boolean): string {
  const isAll = SCOPE_CATEGORIES.every((category) => levels.get(category) === "write");
  const named = SCOPE_CATEGORIES.filter((category) => levels.has(category)).map(
    (category) => `${levels.get(category)}:${category}`,
  );
  return [...(isPublicOnly ? ["public-only"] : []), ...(isAll ? ["all"] : named)].join(",");
}

/** Every right there is: what a password stands for. */
export const ALL_SCOPES: Scopes = {
  levels: new Map(SCOPE_CATEGORIES.map((category) => [category, "write"])),
  isPublicOnly: false,
  text: "all",
};

/**
 * Reads scopes as stored with a token.
 *
 * SECURITY: a missing value, or one that can't be read, grants nothing; never everything.
 */
export function readStoredScopes(text: string | null): Scopes {
  const scopes = parseScopes((text ?? "").split(","));
  return "unknown" in scopes ? { levels: new Map(), isPublicOnly: true, text: "" } : scopes;
}

/** Whether `scopes` allow `wanted`. */
export function hasScope(scopes: Scopes, wanted: Scope): boolean {
  const [level, category] = wanted.split(":") as ["read" | "write", ScopeCategory];
  const granted = scopes.levels.get(category);
  return granted === "write" || granted === level;
}

/** Whether everything that `narrow` allows is allowed by `wide` too. */
export function isWithin(narrow: Scopes, wide: Scopes): boolean {
  if (wide.isPublicOnly && !narrow.isPublicOnly) return false;
  return [...narrow.levels].every(([category, level]) => hasScope(wide, `${level}:${category}`));
}
