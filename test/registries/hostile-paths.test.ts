import { beforeAll, describe, expect, it } from "vitest";

import { visit } from "../support/call.ts";
import { make, type TestUser } from "../support/make.ts";

let owner: TestUser;

beforeAll(async () => {
  owner = await make.user();
});

const LONG = "x".repeat(5000);
const NAMES = [
  "%",
  "%FF",
  "%00",
  "..%2F..",
  "%2e%2e",
  "a%2Fb",
  "%F0%9F%92%A9",
  LONG,
  "__proto__",
  "'--",
];

/** Paths with a name in each place. */
const PATHS = NAMES.flatMap((name) => [
  ["GET", `pypi/simple/${name}/`],
  ["GET", `pypi/files/${name}/${name}/${name}`],
  ["GET", `pypi/files/${name}/${name}/${name}.metadata`],
  ["GET", `pypi/pypi/${name}/json`],
  ["GET", `pypi/pypi/${name}/${name}/json`],
  ["PUT", `pypi/${name}/${name}/yank`],
  ["DELETE", `pypi/${name}/${name}/yank`],
  ["GET", `cargo/ab/cd/${name}`],
  ["GET", `cargo/api/v1/crates/${name}/${name}/download`],
  ["GET", `cargo/api/v1/crates/${name}/owners`],
  ["DELETE", `cargo/api/v1/crates/${name}/${name}/yank`],
  ["GET", `go/${name}/@v/list`],
  ["GET", `go/example.com/${name}/@v/${name}.info`],
  ["GET", `go/example.com/${name}/@latest`],
]);

describe("a path of a registry", () => {
  it.each(PATHS.map(([method = "", path = ""]) => [method, path.slice(0, 80), path]))(
    "%s %s of nothing is not found",
    async (method, _, path) => {
      const answer = await visit(method, `/api/packages/${owner.name}/${path}`, {
        as: owner,
        headers: { Accept: `${"a/b;q=0.1,".repeat(1000)}text/html` },
      });
      expect([400, 404]).toContain(answer.status);
    },
  );

  it.each(NAMES)("with a search for %.20s finds nothing", async (name) => {
    const path = `/api/packages/${owner.name}/cargo/api/v1/crates?q=${name}&per_page=${name}`;
    expect((await visit("GET", path)).body).toEqual({ crates: [], meta: { total: 0 } });
  });
});
