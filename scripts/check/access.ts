import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { projectRoot } from "../project.ts";
import { type Check, toResult } from "./check.ts";

/**
 * Access is decided in src/auth/access only. This check also sees names in SQL text, which the
 * linter does not.
 */
export const access: Check = {
  name: "access",
  run: async () => toResult(findForbiddenNames(projectRoot)),
};

interface Reserved {
  names: RegExp;
  /** Paths, or prefixes of paths, that may use the names. */
  allowedPaths: string[];
  reason: string;
}

const RESERVED: Reserved[] = [
  {
    names:
      /\b(?:collaborations|organization_members|team_members|team_repositories|(?:from|join|into|update) teams)\b/,
    allowedPaths: ["src/auth/access/", "src/db/schema/"],
    reason: "use src/auth/access for membership",
  },
  {
    names: /\bhas(?:Code|Issues|PullRequests|Releases|Wiki|Projects|Packages|Actions)\b/,
    allowedPaths: [
      "src/auth/access/",
      "src/db/schema/",
      // These set and show the flags.
      "src/api/repos/edit-repository-body.ts",
      "src/domain/repos/repository/edit-repository.ts",
      "src/domain/repos/repository/fork-repository.ts",
      "src/domain/repos/repository/insert-repository.ts",
      "src/shapes/repos/repository.ts",
    ],
    reason: "use src/auth/access for the availability of a unit",
  },
];

/** @returns One complaint per line that uses a name reserved for other paths. */
export function findForbiddenNames(root: string): string[] {
  return globSync("src/**/*.ts", { cwd: root })
    .toSorted()
    .flatMap((path) => {
      const forbidden = RESERVED.filter(
        ({ allowedPaths }) => !allowedPaths.some((allowedPath) => path.startsWith(allowedPath)),
      );
      const lines = readFileSync(join(root, path), "utf8").split("\n");
      return lines.flatMap((line, at) =>
        forbidden
          .filter(({ names }) => names.test(line))
          .map(({ names, reason }) => `${path}:${at + 1}: ${names.exec(line)?.[0]}: ${reason}`),
      );
    });
}
