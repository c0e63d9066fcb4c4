/** A `.gitignore` template for a language, tool or kind of project. */
export interface GitignoreTemplate {
  name: string;
  text: string;
}

// Loaded on first use: most requests need no template.
const load = async () =>
  Object.entries((await import("../../../../dist/templates/gitignores.json")).default);

/** Lists the names of all templates, in order. */
export async function listGitignores(): Promise<string[]> {
  return (await load()).map(([name]) => name);
}

/** Finds a template by its name, ignoring case. */
export async function findGitignore(requestedName: string): Promise<GitignoreTemplate | undefined> {
  const lowerName = requestedName.toLowerCase();
  const found = (await load()).find(([name]) => name.toLowerCase() === lowerName);
  return found && { name: found[0], text: found[1] };
}
