import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { projectRoot } from "../project.ts";
import { type Check, verdictOf } from "./check.ts";

/**
 * An exported name means one thing.
 *
 * A noun is shared by a thing, its JSON in `shapes` and the list of its endpoints in `api`. Doors do not
 * know each other, and name the steps that each of them takes alike.
 */
export const exportNames: Check = {
  name: "names",
  run: async () => verdictOf(judgeExportNames(readSources(join(projectRoot, "src")))),
};

/** @param sources Texts of files by their paths below `src`. */
export function judgeExportNames(sources: ReadonlyMap<string, string>): string[] {
  const places = new Map<string, Map<string, string[]>>();
  for (const [path, text] of sources) {
    for (const [, name = "", rest = ""] of text.matchAll(EXPORT)) {
      const part = partOf(path, rest);
      const byPart = places.get(name) ?? new Map<string, string[]>();
      places.set(name, byPart);
      const paths = byPart.get(part) ?? [];
      // A schema and its type have one name.
      byPart.set(part, paths.includes(path) ? paths : [...paths, path]);
    }
  }
  return [...places]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, byPart]) => {
      const paths = findClash(byPart)?.map((path) => `src/${path}`);
      return paths ? [`${name} is exported by ${paths.join(" and ")}`] : [];
    });
}

const EXPORT =
  /^export (?:declare |abstract |async )*(?:const|let|function\*?|class|interface|type|enum) (\w+)(.*)$/gm;

const DOORS = /^(api|git-http|jobs|registries|web)\//;

/** Where a name means something of its own. */
function partOf(path: string, rest: string): string {
  if (path.startsWith("shapes/")) return "shapes";
  if (/^ = (?:endpoints\(|new Hono\b)/.test(rest)) return "endpoints";
  return DOORS.exec(path)?.[1] ?? "rest";
}

/** The paths that use one name for different things; undefined if they do not. */
function findClash(byPart: ReadonlyMap<string, string[]>): string[] | undefined {
  const rest = byPart.get("rest") ?? [];
  const groups = [byPart.get("shapes") ?? [], rest];
  for (const [part, paths] of byPart) if (DOORS.test(`${part}/`)) groups.push(rest.concat(paths));
  return groups.find((paths) => paths.length > 1);
}

function readSources(root: string): Map<string, string> {
  const names = readdirSync(root, { recursive: true }).map(String).toSorted();
  return new Map(
    names
      .filter((name) => name.endsWith(".ts"))
      .map((name) => [name, readFileSync(join(root, name), "utf8")]),
  );
}
