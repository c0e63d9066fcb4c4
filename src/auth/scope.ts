/** The categories of token scopes, in the order in which scopes are stored and shown. */
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

/**
 * The scopes of a credential: a level for each category, and whether it is limited to public
 * resources.
 */
export interface Scopes {
  levels: ReadonlyMap<ScopeCategory, "read" | "write">;
  isPublicOnly: boolean;
  /** The normalised list, as stored and shown. */
  text: string;
}

const isCategory = (text: string): text is ScopeCategory =>
  (SCOPE_CATEGORIES as readonly string[]).includes(text);

/**
 * Parses a list of scope names. Duplicates and empty items are dropped, write includes read, and
 * write on all nine categories becomes `all`.
 *
 * @returns The scopes, or the first unknown name.
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

/** All scopes: what a password grants. */
export const ALL_SCOPES: Scopes = {
  levels: new Map(SCOPE_CATEGORIES.map((category) => [category, "write"])),
  isPublicOnly: false,
  text: "all",
};

/**
 * Parses the scopes stored with a token.
 *
 * SECURITY: a missing or unreadable value grants nothing, never everything.
 */
export function readStoredScopes(text: string | null): Scopes {
  const scopes = parseScopes((text ?? "").split(","));
  return "unknown" in scopes ? { levels: new Map(), isPublicOnly: true, text: "" } : scopes;
}

/** Whether `scopes` include the required one. */
export function hasScope(scopes: Scopes, required: Scope): boolean {
  const [level, category] = required.split(":") as ["read" | "write", ScopeCategory];
  const granted = scopes.levels.get(category);
  return granted === "write" || granted === level;
}

/** Whether `wide` allows everything that `narrow` allows. */
export function isWithin(narrow: Scopes, wide: Scopes): boolean {
  if (wide.isPublicOnly && !narrow.isPublicOnly) return false;
  return [...narrow.levels].every(([category, level]) => hasScope(wide, `${level}:${category}`));
}
