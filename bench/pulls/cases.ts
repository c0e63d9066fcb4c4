import { z } from "zod";

import { type Case, command } from "../content/cases.ts";
import type { ContentForge, Request } from "../content/forge.ts";
import { headOf } from "./heads.ts";

/** Commits and files on a page. */
const PAGE = 50;

/** The request that opens a pull request. */
const opening = (head: string, base: string): Request => ({
  method: "POST",
  path: "/pulls",
  json: { head, base, title: `From ${head}` },
  status: 201,
});

const Opened = z.looseObject({ number: z.number() });

/** Opens a pull request and returns its number. */
export async function open(forge: ContentForge, head: string, base: string): Promise<number> {
  const { body } = await forge.ask(opening(head, base));
  return Opened.parse(JSON.parse(body)).number;
}

/**
 * What is measured, and the same with git.
 *
 * @param runs Measured runs of each case; one more is made with empty caches.
 * @param many Number of the pull request with many commits.
 * @returns Uses the first `2 * (runs + 1)` heads of one commit.
 */
export function casesOf(forge: ContentForge, base: string, runs: number, many: number): Case[] {
  const range = `${base}...${headOf.many}`;
  const numbers = new Map<string, number>();
  const read = (name: string, path: string, ...commands: ReturnType<Case["commands"]>): Case => ({
    name,
    requests: () => [{ path: `/pulls/${many}${path}` }],
    commands: () => commands,
  });
  const mergedAt = (run: number): string => headOf.one(runs + 1 + run);
  return [
    {
      name: "open, and check",
      requests: (run) => [opening(headOf.one(run), base)],
      commands: (run) => [
        command("merge-base", base, headOf.one(run)),
        command("rev-list", "--left-right", "--count", `${base}...${headOf.one(run)}`),
        command("diff", "--numstat", "-M", `${base}...${headOf.one(run)}`),
        command("merge-tree", "--write-tree", base, headOf.one(run)),
        command("update-ref", `refs/pull/${run}/head`, headOf.one(run)),
      ],
    },
    {
      name: "merge",
      prepare: async (run) => {
        numbers.set(mergedAt(run), await open(forge, mergedAt(run), base));
      },
      requests: (run) => [
        {
          method: "POST",
          path: `/pulls/${numbers.get(mergedAt(run))}/merge`,
          json: { Do: "merge" },
        },
      ],
      commands: (run) => [mergeCommand(base, mergedAt(run))],
    },
    read("files, page 1", `/files?limit=${PAGE}`, command("diff", "--numstat", "-M", range)),
    read(
      "files, no white space",
      `/files?limit=${PAGE}&whitespace=ignore-all`,
      command("diff", "--numstat", "-M", "-w", range),
    ),
    read(
      "commits, page 1",
      `/commits?limit=${PAGE}`,
      command("log", `-${PAGE}`, "--format=raw", "--numstat", "-M", `${base}..${headOf.many}`),
      command("rev-list", "--count", `${base}..${headOf.many}`),
    ),
    read("diff", ".diff", command("diff", "-M", range)),
    read("patch", ".patch", command("format-patch", "--stdout", `${base}..${headOf.many}`)),
  ];
}

/** Merges a branch into another in a bare repository. */
function mergeCommand(base: string, head: string): ReturnType<Case["commands"]>[number] {
  const tree = `$(git merge-tree --write-tree ${base} ${head})`;
  const commit = `$(git commit-tree -p ${base} -p ${head} -m Merge ${tree})`;
  return command("-c", `alias.merged=!git update-ref refs/heads/${base} ${commit}`, "merged");
}
