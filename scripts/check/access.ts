import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { projectRoot } from "../project.ts";
import { type Check, verdictOf } from "./check.ts";

/** Who may do what is decided in one place, where SQL as text is hidden from the linter, too. */
export const access: Check = {
  name: "access",
  run: async () => verdictOf(judgeAccess(projectRoot)),
};

interface Reserved {
  words: RegExp;
  /** Paths that may use them, or the beginnings of paths. */
  places: string[];
  reason: string;
}

const RESERVED: Reserved[] = [
  {
    words:
      /\b(?:collaborations|organization_members|team_members|team_repositories|(?:from|join|into|update) teams)\b/,
    places: ["src/auth/access/", "src/db/schema/"],
    reason: "who belongs where is asked of src/auth/access",
  },
  {
    words: /\bhas(?:Code|Issues|PullRequests|Releases|Wiki|Projects|Packages|Actions)\b/,
    places: [
      "src/auth/access/",
      "src/db/schema/",
      // These set and show the switches.
      "src/api/repos/edit-repository-body.ts",
      "src/domain/repos/edit-repository.ts",
      "src/domain/repos/fork-repository.ts",
      "src/domain/repos/insert-repository.ts",
      "src/shapes/repos/repository.ts",
    ],
    reason: "whether a unit is there for somebody is asked of src/auth/access",
  },
];

/** @returns One complaint per line that names what another part of the program is to be asked for. */
export function judgeAccess(root: string): string[] {
  return globSync("src/**/*.ts", { cwd: root })
    .toSorted()
    .flatMap((path) => {
      const forbidden = RESERVED.filter(
        ({ places }) => !places.some((place) => path.startsWith(place)),
      );
      const lines = readFileSync(join(root, path), "utf8").split("\n");
      return lines.flatMap((line, at) =>
        forbidden
          .filter(({ words }) => words.test(line))
          .map(({ words, reason }) => `${path}:${at + 1}: ${words.exec(line)?.[0]}: ${reason}`),
      );
    });
}
