import { eq } from "drizzle-orm";
import { describe, expect, it, vi } from "vitest";

import { repositoryInsights } from "../../../src/db/schema/index.ts";
import { grammarsOf } from "../../../src/web/pages/repository/languages.ts";
import { call, visit } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { makeFiles, type TestFile } from "../../support/files.ts";
import { make, type TestRepo } from "../../support/make.ts";
import { push, pushCommands } from "../../support/push.ts";

const PEOPLE = { headers: { Accept: "text/html" } };

const read = async (path: string): Promise<string> => {
  const { status, body } = await visit("GET", path, PEOPLE);
  expect(status, path).toBe(200);
  return String(body);
};

const pathOf = ({ owner, name }: TestRepo): string => `/${owner}/${name}`;

/** The number of times that a text has another one. */
const count = (text: string, part: string): number => text.split(part).length - 1;

describe("the grammars of a file", () => {
  // Without a grammar, the highlighter is not loaded.
  it.each(["notes.txt", "notes.text", "LICENSE", "notes"])(
    "are none for plain text: %s",
    async (name) => {
      expect(await grammarsOf(name)).toEqual([]);
    },
  );

  it("are those of the language that the name tells, and the extension", async () => {
    expect(await grammarsOf("CMakeLists.txt")).toContain("cmake");
    expect(await grammarsOf("run.sh")).toEqual(["bash", "bash", "sh"]);
  });
});

describe("the languages of a repository", () => {
  const of = (bytes: number) => "x".repeat(bytes);

  async function makeCounted(files: Record<string, TestFile>) {
    const owner = await make.user();
    const repo = await make.repo(owner);
    const { oid, pack } = makeFiles(files);
    await push(owner, repo, oid, pack);
    const stored = () =>
      db.select().from(repositoryInsights).where(eq(repositoryInsights.repoId, repo.id));
    return { owner, repo, path: pathOf(repo), oid, stored };
  }

  it("are counted after the first request, and shown from then on", async () => {
    const { path, stored } = await makeCounted({ "a.go": of(750), "b.py": of(250) });
    expect(await read(path)).not.toContain('class="languages"');
    await vi.waitFor(async () => expect(await stored()).toHaveLength(1));
    const page = await read(path);
    expect(page).toMatch(/<rect x="0.00" width="75.00" height="1" fill="#00ADD8"/);
    expect(page).toMatch(/<rect x="75.00" width="25.00" height="1" fill="#3572A5"/);
    expect(page).toMatch(
      />Go<\/a> <span class="soft">75.0%<\/span>[^]*>Python<\/a> <span class="soft">25.0%/,
    );
    expect(await read(`${path}/src/branch/main`)).not.toContain('class="languages"');
  });

  it("are those of an earlier commit until they are counted again", async () => {
    const { owner, repo, path, oid, stored } = await makeCounted({ "a.go": "x" });
    await call("GET", `/repos${path}/languages`);
    await vi.waitFor(async () => expect(await stored()).toHaveLength(1));
    const next = makeFiles({ "a.rs": "x" });
    const update = { ref: "refs/heads/main", old: oid, new: next.oid };
    await pushCommands(owner, repo, [update], { pack: next.pack });
    expect(await read(path)).toContain(">Go</a> <span");
    await vi.waitFor(async () => expect(await stored()).toMatchObject([{ commitOid: next.oid }]));
    expect(await read(path)).toContain(">Rust</a> <span");
  });

  it("are the largest by name, and the others together", async () => {
    const names = ["go", "py", "rs", "js", "ts", "c", "java", "rb", "php", "lua"];
    const sizes = names.map((name, at) => [`a.${name}`, of(2000 - 100 * at)] as const);
    const { path, stored } = await makeCounted({ ...Object.fromEntries(sizes), "b.sh": "x" });
    await read(path);
    await vi.waitFor(async () => expect(await stored()).toHaveLength(1));
    const page = await read(path);
    expect(count(page, "<rect ")).toBe(9);
    expect(page).toMatch(/>Ruby<\/a> <span[^]*Other <span/);
    expect(page).not.toContain("PHP");
  });
});
