import { expect, it } from "vitest";

import { findNameClashes } from "../../../scripts/check/export-names.ts";

const findFaults = (sources: Record<string, string>) =>
  findNameClashes(new Map(Object.entries(sources)));

it.each<[string, Record<string, string>]>([
  ["two files", { "git/a.ts": "export interface Hunk {}", "domain/b.ts": "export class Hunk {}" }],
  ["two shapes", { "shapes/a.ts": "export const File = z", "shapes/b.ts": "export type File = 1" }],
  [
    "two files of an entry folder",
    { "api/a.ts": "export function enter() {}", "api/b.ts": "export async function enter() {}" },
  ],
  [
    "a reader of a forge and what readers share",
    {
      "forges/fields.ts": "export const listOf = 1",
      "forges/github/lists.ts": "export const listOf = 2",
    },
  ],
  [
    "an entry folder and a folder below it",
    { "web/a.ts": "export const readBody = 1", "outgoing/b.ts": "export function* readBody() {}" },
  ],
])("finds a name that %s use with two meanings", (_, sources) => {
  const [first, second] = Object.keys(sources);
  const both = `src/(?:${first} and src/${second}|${second} and src/${first})`;
  expect(findFaults(sources)).toEqual([
    expect.stringMatching(new RegExp(String.raw`^\w+ is exported by ${both}$`)),
  ]);
});

it("allows a type, its JSON and its endpoints to share a noun, and entry folders to share names of steps", () => {
  expect(
    findFaults({
      "db/schema/a.ts": "export const stars = sqliteTable()\nexport type Star = 1",
      "shapes/star.ts": "export const Star = z\nexport type Star = z.infer<typeof Star>",
      "api/self/stars.ts": "export const stars = endpoints();",
      "web/render-failure.ts": "export const renderFailure = 1",
      "git-http/render-failure.ts": "export const renderFailure = 2",
      "forges/github/issues.ts": "export const readIssues = 1",
      "forges/gitlab/issues.ts": "export const readIssues = 2",
    }),
  ).toEqual([]);
});
