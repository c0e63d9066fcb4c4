import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { repositories, type User } from "../../../src/db/schema/index.ts";
import { findGitignore } from "../../../src/domain/code/templates/gitignores.ts";
import { call } from "../../support/call.ts";
import { db } from "../../support/db.ts";
import { eventsBy, typesOf } from "../../support/events.ts";
import { git, placeOf, readBranch } from "../../support/git.ts";
import { freshName, make, type TestUser } from "../../support/make.ts";
import { serviceWith } from "../../support/service.ts";
import { logged } from "../../support/usage.ts";

const namesOf = async (owner: Pick<User, "id">): Promise<string[]> => {
  const rows = await db.select().from(repositories).where(eq(repositories.ownerId, owner.id));
  return rows.map(({ name }) => name);
};

const create = (as: TestUser, input: object, path = "/user/repos") =>
  call("POST", path, { as, json: { name: freshName("repo"), auto_init: true, ...input } });

describe("a repository created with auto_init", () => {
  it("has one commit by its creator on its default branch", async () => {
    const owner = await make.user({ fullName: "Ada Żółw" });
    const before = Math.floor(Date.now() / 1000);
    const created = await create(owner, {
      name: "engine",
      description: "Weaves «patterns»",
      default_branch: "trunk/żółw",
    });

    expect(created).toMatchObject({
      status: 201,
      body: { empty: false, default_branch: "trunk/żółw", size: expect.any(Number) },
    });
    const { oid, head, commit, files } = await readBranch(created.body.id, "trunk/żółw");
    expect(files).toEqual({ "README.md": "# engine\n\nWeaves «patterns»" });
    expect(head).toMatch(/^refs\/heads\/trunk\//);
    expect(commit).toMatchObject({
      parentOids: [],
      message: "Initial commit\n",
      author: { email: owner.email, zone: "+0000" },
      committer: commit.author,
    });
    expect(new TextDecoder().decode(bytesOf(commit.author.name))).toBe("Ada Żółw");
    expect(commit.author.timeSeconds).toBeGreaterThanOrEqual(before);
    expect(await eventsBy(owner)).toMatchObject([
      { type: "repository.created" },
      {
        type: "repository.pushed",
        payload: { updates: [{ ref: "refs/heads/trunk/żółw", before: null, after: oid }] },
      },
    ]);
  });

  it("is returned as later reads return it", async () => {
    const owner = await make.user();
    const created = await create(owner, { license: "GPL-3.0-only" });
    const path = `/repos/${created.body.full_name}`;
    expect((await call("GET", path, { as: owner })).body).toEqual(created.body);
    expect(created.body.size).toBeGreaterThan(0);
  });

  it("has the requested files, with their placeholders filled", async () => {
    const owner = await make.user({ fullName: "Ada $& Lovelace" });
    const created = await create(owner, {
      gitignores: "go, Node,",
      license: "mit",
      readme: "Default",
    });

    expect(created.status).toBe(201);
    const { files } = await readBranch(created.body.id, "main");
    expect(Object.keys(files)).toEqual([".gitignore", "LICENSE", "README.md"]);
    // Byte for byte as Gitea writes them.
    expect(files["README.md"]).toBe(`# ${created.body.name}\n\n`);
    const [go, node] = [await findGitignore("Go"), await findGitignore("Node")];
    expect(files[".gitignore"]).toBe(`# ---> Go\n${go?.text}\n# ---> Node\n${node?.text}\n`);
    const year = new Date().getUTCFullYear();
    expect(files["LICENSE"]).toContain(`Copyright (c) ${year} ${owner.name}\n`);
  });

  it("names the organization in its license, and the creator in its commit", async () => {
    const creator = await make.user();
    const org = await make.org([creator]);
    for (const path of [`/orgs/${org.name}/repos`, `/org/${org.name}/repos`]) {
      const created = await create(creator, { license: "ISC" }, path);
      expect(created).toMatchObject({ status: 201, body: { empty: false } });
      const { files, commit } = await readBranch(created.body.id, "main");
      expect(files["LICENSE"]).toContain(` ${org.name}\n`);
      expect(files["LICENSE"]).not.toContain("Consortium");
      expect(commit.author).toMatchObject({ name: creator.name, email: creator.email });
    }
  });

  // Everybody who may read a repository sees the email addresses in its commits.
  it("does not contain a hidden email address", async () => {
    const owner = await make.user({ isEmailHidden: true });
    const created = await create(owner, {});
    const { commit } = await readBranch(created.body.id, "main");
    expect(commit.author.email).toBe(`${owner.name}@noreply.forge.example`);
    expect(commit.committer.email).toBe(commit.author.email);
  });

  it("has an author name that git accepts, whatever its creator's name", async () => {
    for (const fullName of ["<>", "a <b@c>\nparent 0", "  ", "...", "x\u0000y"]) {
      const owner = await make.user({ fullName });
      const created = await create(owner, { license: "MIT" });
      expect(created.status).toBe(201);
      const { commit } = await readBranch(created.body.id, "main");
      expect(commit.author.name).toMatch(/^[^<>\n\0]+$/);
      expect(commit.author.email).toBe(owner.email);
    }
  });

  it("takes no more database round trips than other writes", async () => {
    const owner = await make.user();
    const { answer, line } = await logged(() => create(owner, { license: "MIT" }));
    expect(answer.status).toBe(201);
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
  });
});

describe("a template that does not exist", () => {
  it.each([
    [{ readme: "Fancy" }, 400, "readme template does not exist, available templates: [Default]"],
    [{ license: "Nonsense-1.0" }, 422, "license template does not exist: Nonsense-1.0"],
    [{ license: "constructor" }, 422, "license template does not exist: constructor"],
    [{ gitignores: "Go,Nonsense" }, 422, "gitignore template does not exist: Nonsense"],
    [{ gitignores: "../Go" }, 422, "gitignore template does not exist: ../Go"],
  ])("is refused before anything is written: %j", async (input, status, message) => {
    const owner = await make.user();
    expect(await create(owner, input)).toMatchObject({
      status,
      body: { message, url: expect.any(String) },
    });
    expect(await namesOf(owner)).toEqual([]);
    expect(await eventsBy(owner)).toEqual([]);
  });

  it("is ignored without a first commit", async () => {
    const owner = await make.user();
    const input = { auto_init: false, readme: "Fancy", license: "no", gitignores: "no" };
    const created = await create(owner, input);
    expect(created).toMatchObject({ status: 201, body: { empty: true, size: 0 } });
    expect((await git.repository(await placeOf(created.body.id)).snapshot()).refs).toEqual([]);
    expect(typesOf(await eventsBy(owner))).toEqual(["repository.created"]);
  });
});

describe("a first commit that can't be stored", () => {
  it("deletes its repository, so that the name is free for a retry", async () => {
    const owner = await make.user();
    const down = () => Promise.reject(new Error("the bucket is down"));
    const bucket = new Proxy(env.PACKS, {
      get(target, key) {
        if (key === "put" || key === "createMultipartUpload") return down;
        const value = Reflect.get(target, key) as unknown;
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
    const json = { name: freshName("repo"), auto_init: true };

    const { answer } = await logged(() =>
      serviceWith({}, { PACKS: bucket })("POST", "/user/repos", { as: owner, json }),
    );
    expect(answer.status).toBe(500);
    expect(await namesOf(owner)).toEqual([]);

    expect(await call("POST", "/user/repos", { as: owner, json })).toMatchObject({
      status: 201,
      body: { empty: false },
    });
  });
});

const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));
