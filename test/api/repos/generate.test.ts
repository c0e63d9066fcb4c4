import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";

import { branchProtections, hooks, labels, repositories } from "../../../src/db/schema/index.ts";
import { MODE_EXECUTABLE, MODE_SUBMODULE, MODE_SYMLINK } from "../../../src/git/object/tree.ts";
import { maintainRepository } from "../../../src/domain/code/git/maintain-repository.ts";
import { encodeUtf8 } from "../../../src/git/byte-text.ts";
import { hashObject } from "../../../src/git/object/hash-object.ts";
import { codec } from "../../../src/storage/codec.ts";
import { call } from "../../support/call.ts";
import { History } from "../../support/commits.ts";
import { db } from "../../support/db.ts";
import { eventsOf, typesOf } from "../../support/events.ts";
import { makeFiles, type TestFile } from "../../support/files.ts";
import { placeOf } from "../../support/git.ts";
import { makeHook } from "../../support/hooks.ts";
import { pngOf } from "../../support/images.ts";
import { attachLabel, makeIssue, makeLabel } from "../../support/issues.ts";
import {
  fetchObject,
  largeFilesOf,
  makeLargeFile,
  objectsOf,
  pointerTo,
  upload,
} from "../../support/large-files.ts";
import { freshName, make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeRule } from "../../support/protections.ts";
import {
  filesOf,
  makeEmptyPack,
  push,
  pushCommands,
  refsOf,
  storePush,
} from "../../support/push.ts";
import { systemCtx } from "../../support/system.ts";
import { logged } from "../../support/usage.ts";

type RepoFields = Parameters<typeof make.repo>[1];

/** A template with files. */
async function makeTemplate(
  files: Record<string, TestFile> = { file: "text" },
  fields: RepoFields = {},
) {
  const owner = await make.user();
  const template = await make.repo(owner, { isTemplate: true, ...fields });
  const made = makeFiles(files);
  await push(owner, template, made.oid, made.pack);
  return { owner, template, made };
}

const generate = (as: TestUser, template: TestRepo, json: object = {}) =>
  call("POST", `/repos/${template.owner}/${template.name}/generate`, {
    as,
    json: { owner: as.name, name: freshName("made"), git_content: true, ...json },
  });

/** The entries of a generated tree: path, mode and id. */
async function treeOf(fullName: string, as: TestUser): Promise<Record<string, [string, string]>> {
  const trees = `/repos/${fullName}/git/trees/main?recursive=true`;
  const { body } = await call("GET", trees, { as });
  const entries = (body.tree ?? []) as { path: string; mode: string; sha: string; type: string }[];
  return Object.fromEntries(
    entries.filter(({ type }) => type !== "tree").map(({ path, mode, sha }) => [path, [mode, sha]]),
  );
}

const rawOf = async (fullName: string, path: string, as: TestUser): Promise<string> =>
  (await call("GET", `/repos/${fullName}/raw/${path}`, { as })).body;

const named = (ownerId: number) =>
  db.select().from(repositories).where(eq(repositories.ownerId, ownerId));

describe("POST /repos/{template_owner}/{template_repo}/generate", () => {
  it("creates a repository of its own with the template's files in one commit", async () => {
    const { template, made } = await makeTemplate({
      "run.sh": { mode: MODE_EXECUTABLE, content: "#!/bin/sh\n" },
      "docs/a.md": "same",
      "docs/b.md": "same",
      link: { mode: MODE_SYMLINK, content: "docs/a.md" },
      lib: { mode: MODE_SUBMODULE, content: "1".repeat(40) },
      "image.png": Uint8Array.of(0, 1, 2, 255),
    });
    const user = await make.user();
    const { answer, line } = await logged(() =>
      generate(user, template, { description: "Made", private: true }),
    );

    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      description: "Made",
      private: true,
      fork: false,
      template: false,
      empty: false,
      default_branch: "main",
      permissions: { admin: true },
    });
    expect(line.d1Rounds).toBeLessThanOrEqual(4);
    const { full_name: fullName } = answer.body;
    expect(await treeOf(fullName, user)).toEqual({
      "run.sh": ["100755", made.oids["run.sh"]],
      "docs/a.md": ["100644", made.oids["docs/a.md"]],
      "docs/b.md": ["100644", made.oids["docs/b.md"]],
      link: ["120000", made.oids["link"]],
      lib: ["160000", "1".repeat(40)],
      "image.png": ["100644", made.oids["image.png"]],
    });
    const commits = await call("GET", `/repos/${fullName}/commits`, { as: user });
    expect(commits.body).toMatchObject([
      { parents: [], commit: { message: "Initial commit\n", author: { email: user.email } } },
    ]);
    expect(typesOf(await eventsOf(answer.body))).toEqual([
      "repository.created",
      "repository.pushed",
    ]);
    // The commit's pack is its own; that of the files is the template's.
    const location = await placeOf(answer.body.id);
    expect(location.networkName).toBe(template.networkName);
    expect((await filesOf(location)).filter((key) => key.includes("/packs/"))).toHaveLength(6);
    const read = await call("GET", `/repos/${fullName}`, { as: user });
    expect(read.body).toEqual({ ...answer.body, updated_at: read.body.updated_at });
  });

  it("replaces variables in the files and paths that .gitea/template lists, and only there", async () => {
    const text = "Hello ${REPO_NAME} by $REPO_OWNER from $TEMPLATE_NAME, $HOME\n";
    const binary = Uint8Array.of(0, ...new TextEncoder().encode("$REPO_NAME"));
    const { template, made } = await makeTemplate({
      ".gitea/template": "# patterns\n\nhello.txt\r\nsrc/**/*.txt\n[\n*.bin\n.gitea/*\nrun\n",
      ".gitea/other": "$REPO_NAME",
      "hello.txt": text,
      "plain.md": text,
      "src/$REPO_NAME_SNAKE/${REPO_OWNER}.txt": text,
      "src/deep/er/x.txt": "nothing",
      "x.bin": binary,
      run: { mode: MODE_EXECUTABLE, content: "echo $REPO_NAME $1" },
    });
    const user = await make.user();
    const name = freshName("New-Kit");
    const { body } = await generate(user, template, { name });

    const expanded = `Hello ${name} by ${user.name} from ${template.name}, $HOME\n`;
    const snake = name.toLowerCase().replaceAll("-", "_");
    const paths = await treeOf(body.full_name, user);
    expect(Object.keys(paths).toSorted()).toEqual(
      [
        ".gitea/other",
        "hello.txt",
        "plain.md",
        "run",
        `src/${snake}/${user.name}.txt`,
        "src/deep/er/x.txt",
        "x.bin",
      ].toSorted(),
    );
    expect(await rawOf(body.full_name, "hello.txt", user)).toBe(expanded);
    expect(await rawOf(body.full_name, `src/${snake}/${user.name}.txt`, user)).toBe(expanded);
    expect(await rawOf(body.full_name, ".gitea/other", user)).toBe(name);
    expect(await rawOf(body.full_name, "plain.md", user)).toBe(text);
    expect(paths["x.bin"]).toEqual(["100644", made.oids["x.bin"]]);
    expect(paths["run"]?.[0]).toBe("100755");
    expect(await rawOf(body.full_name, "run", user)).toBe(`echo ${name} $1`);
  });

  it.each([
    ["a file that exists", { "$REPO_NAME.md": "a", "made.md": "b" }],
    ["a directory that exists", { $REPO_NAME: "a", "made/b": "b" }],
    ["a path below a file", { "$REPO_NAME/a": "a", made: "b" }],
    ["no path", { "$REPO_DESCRIPTION/a": "a" }],
  ])("refuses a path that becomes %s, and creates nothing", async (_name, files) => {
    const { template } = await makeTemplate({ ".gitea/template": "**", ...files });
    const user = await make.user();
    const json = { name: "made", description: ".git" };
    const { status, body } = await generate(user, template, json);
    expect([status, body.message]).toEqual([422, expect.stringMatching(/path/)]);
    expect(await named(user.id)).toEqual([]);
  });

  it("gives one file the path that another leaves", async () => {
    const { template, made } = await makeTemplate({
      ".gitea/template": "*",
      $REPO_NAME: "a",
      "${REPO_NAME}2": "b",
    });
    const user = await make.user();
    const { body } = await generate(user, template, { name: "made" });
    expect(await treeOf(body.full_name, user)).toEqual({
      made: ["100644", made.oids["$REPO_NAME"]],
      made2: ["100644", made.oids["${REPO_NAME}2"]],
    });
  });

  it.each([
    ["a file with variables", { ".gitea/template": "big", big: "$".repeat(1024 * 1024 + 1) }],
    ["the list of files", { ".gitea/template": "x\n".repeat(40_000) }],
    [
      "the files together",
      Object.fromEntries([
        [".gitea/template", "none"],
        ...[1, 2, 3].map((at) => [`f${at}`, new Uint8Array(12 * 1024 * 1024).fill(at)]),
      ]),
    ],
  ])("refuses a template whose size exceeds the limit of %s", async (_name, files) => {
    const { template } = await makeTemplate(files);
    const user = await make.user();
    const { status, body } = await generate(user, template);
    expect([status, body.message]).toEqual([413, expect.stringMatching(/at most/)]);
    expect(await named(user.id)).toEqual([]);
  });

  it("copies the large files that the template's files point at, and no others", async () => {
    const file = makeLargeFile(freshName("large"));
    const [other, missing] = [makeLargeFile(freshName("other")), makeLargeFile(freshName("gone"))];
    const { owner, template } = await makeTemplate({
      "large.bin": pointerTo(file),
      "gone.bin": pointerTo(missing),
    });
    for (const each of [file, other]) await upload(owner, template, each);
    const user = await make.user();
    const { body } = await generate(user, template);

    expect(body.size).toBeGreaterThan(0);
    expect(await objectsOf(body)).toMatchObject([{ oid: file.oid, sizeBytes: file.size }]);
    const [login = "", name = ""] = body.full_name.split("/");
    await call("DELETE", `/repos/${template.owner}/${template.name}`, { as: owner });
    expect((await fetchObject({ owner: login, name }, file.oid, {}, user)).bytes).toEqual(
      file.bytes,
    );
    expect(await largeFilesOf(await placeOf(body.id))).toHaveLength(1);
  });

  it("copies topics, avatar and webhooks where asked for", async () => {
    const { owner, template } = await makeTemplate();
    const path = `/repos/${template.owner}/${template.name}`;
    await call("PUT", `${path}/topics`, { as: owner, json: { topics: ["one", "two"] } });
    const image = pngOf(1, 1, freshName("image"));
    await call("POST", `${path}/avatar`, { as: owner, json: { image } });
    const { avatar_url: avatarUrl } = (await call("GET", path)).body;
    const target = { level: "repository", repoId: template.id, approverId: owner.id } as const;
    await makeHook({ ...target, url: "https://receiver.example/a", failureCount: 3 });

    const items = { git_content: false, topics: true, avatar: true, webhooks: true };
    const { body } = await generate(owner, template, items);
    expect(body).toMatchObject({ empty: true, topics: ["one", "two"], avatar_url: avatarUrl });
    const made = `/repos/${body.full_name}`;
    expect((await call("GET", `${made}/topics`)).body.topics).toEqual(["one", "two"]);
    const copies = await db.select().from(hooks).where(eq(hooks.repoId, body.id));
    expect(copies).toMatchObject([
      { url: "https://receiver.example/a", approverId: owner.id, failureCount: 0 },
    ]);
    expect(typesOf(await eventsOf(body))).toEqual(["repository.created"]);

    const plain = await generate(owner, template);
    expect(plain.body).toMatchObject({ topics: [], avatar_url: "" });
    expect(await db.select().from(hooks).where(eq(hooks.repoId, plain.body.id))).toEqual([]);
  });

  // Their addresses and secrets are credentials of the template's owner.
  it("refuses the webhooks of another's template", async () => {
    const { template } = await makeTemplate();
    const user = await make.user();
    expect((await generate(user, template, { webhooks: true })).status).toBe(403);
    expect(await named(user.id)).toEqual([]);
  });

  it("has actions, which templates are created without", async () => {
    const owner = await make.user();
    const json = { name: freshName("kit"), template: true, auto_init: true };
    const { body: kit } = await call("POST", "/user/repos", { as: owner, json });
    expect(kit).toMatchObject({ template: true, has_actions: false });
    const path = `/repos/${kit.full_name}/generate`;
    const sent = { owner: owner.name, name: freshName("made"), git_content: true };
    const { body } = await call("POST", path, { as: owner, json: sent });
    expect(body).toMatchObject({ template: false, has_actions: true });
  });

  it("accepts what does not exist yet, and requires one item", async () => {
    const { template } = await makeTemplate();
    const user = await make.user();
    const none = { git_content: false };
    for (const item of ["git_hooks", "protected_branch"]) {
      expect((await generate(user, template, { ...none, [item]: true })).status).toBe(201);
    }
    expect(await generate(user, template, none)).toMatchObject({
      status: 422,
      body: { message: "must select at least one template item" },
    });
    expect(await named(user.id)).toHaveLength(2);
  });

  it("copies the labels, if asked, without their issues", async () => {
    const { template } = await makeTemplate();
    const old = { name: "kind/old", isExclusive: true, archivedAt: 1000, description: "gone" };
    const label = await makeLabel({ repo: template }, old);
    await makeLabel({ repo: template }, { name: "bug" });
    await attachLabel(await makeIssue(template), label);
    const user = await make.user();
    const labelsOf = ({ body }: { body: { id: number } }) =>
      db.select().from(labels).where(eq(labels.repoId, body.id)).orderBy(labels.id);
    const made = await generate(user, template, { git_content: false, labels: true });
    const counts = { openIssueCount: 0, closedIssueCount: 0 };
    expect(await labelsOf(made)).toMatchObject([
      { ...old, color: "ee0701", ...counts },
      { name: "bug", isExclusive: false, archivedAt: null, ...counts },
    ]);
    expect(await labelsOf(await generate(user, template))).toEqual([]);
  });

  it("copies the rules of branches, if asked", async () => {
    const { owner, template } = await makeTemplate();
    const rule = {
      name: "release/*",
      isPriorityExplicit: true,
      settings: { requiredApprovals: 2 },
    };
    const { settings } = await makeRule(template, rule);
    const rulesOf = ({ body }: { body: { id: number } }) =>
      db.select().from(branchProtections).where(eq(branchProtections.repoId, body.id));
    const made = await generate(owner, template, { git_content: false, protected_branch: true });
    expect(made.status).toBe(201);
    expect(await rulesOf(made)).toMatchObject([{ ...rule, settings }]);
    expect(await rulesOf(await generate(owner, template))).toEqual([]);
  });

  // SECURITY: the labels of a unit that is hidden from the caller.
  it("refuses labels that the caller may not see", async () => {
    const fields = { hasIssues: false, hasPullRequests: false };
    const { template, owner } = await makeTemplate({ file: "a" }, fields);
    await makeLabel({ repo: template }, { name: "bug" });
    const user = await make.user();
    expect((await generate(user, template, { labels: true })).status).toBe(403);
    expect(await named(user.id)).toEqual([]);
    expect((await generate(owner, template, { labels: true })).status).toBe(201);
  });

  it("takes the branch of the template, or the one that is asked for", async () => {
    const user = await make.user();
    const bare = await make.repo(await make.user(), { isTemplate: true, defaultBranch: "trunk" });
    const empty = await generate(user, bare);
    expect(empty.body).toMatchObject({ empty: true, default_branch: "trunk" });
    const other = await makeTemplate();
    const { body } = await generate(user, other.template, { default_branch: "next" });
    expect(body.default_branch).toBe("next");
    expect((await refsOf(await placeOf(body.id))).map(({ name }) => name)).toEqual([
      "refs/heads/next",
    ]);
  });

  it("keeps the name free where the content can't be stored", async () => {
    const { template } = await makeTemplate({
      ".gitea/template": ".gitmodules",
      ".gitmodules": '[submodule "a"]\n\tpath = a\n\turl = ${REPO_DESCRIPTION}\n',
    });
    const user = await make.user();
    const name = freshName("made");
    const refused = await generate(user, template, { name, description: "-u./payload" });
    expect(refused.status).toBe(422);
    expect(await named(user.id)).toEqual([]);
    expect(
      (await generate(user, template, { name, description: "https://a.example" })).status,
    ).toBe(201);
  });

  it("costs the same for many files as for one", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 900 }, (_, at) => [`d${at % 40}/f${at}`, `text ${at}`]),
    );
    const user = await make.user();
    const costs = [];
    for (const files of [{ "d/f": "text" }, many]) {
      const { template } = await makeTemplate(files);
      // What is read of the template stays in the isolate's memory.
      await generate(user, template);
      const { answer, line } = await logged(() => generate(user, template));
      expect(answer.status).toBe(201);
      const { d1Rounds, d1Calls, objectCalls, r2Calls } = line;
      costs.push({ d1Rounds, d1Calls, objectCalls, r2Calls });
      expect(Object.keys(await treeOf(answer.body.full_name, user))).toHaveLength(
        Object.keys(files).length,
      );
    }
    expect(costs[1]).toEqual(costs[0]);
    expect(costs[0]).toMatchObject({ objectCalls: 1, r2Calls: 0 });
  });

  it("shares packs, and shows nothing of the template's other history by any door", async () => {
    const owner = await make.user();
    const template = await make.repo(owner, { isTemplate: true, isPrivate: true });
    const history = new History();
    const secretOid = hashObject("blob", encodeUtf8("secret of before"), codec);
    const first = history.commit({ files: { secret: "secret of before", kept: "kept" } });
    const head = history.commit({ files: { kept: "kept" }, parents: [first] });
    const topic = history.commit({ files: { kept: "kept", topic: "topic" }, parents: [head] });
    await storePush(template, "refs/heads/main", head, history.build());
    await storePush(template, "refs/heads/topic", topic, history.build());
    const { status, body } = await generate(owner, template, { name: freshName("made") });
    expect(status).toBe(201);
    const path = `/repos/${body.full_name}`;
    const read = async (below: string): Promise<number> => (await call("GET", path + below)).status;
    expect(await read("/raw/kept")).toBe(200);

    for (const oid of [first, head, topic]) {
      expect([oid, await read(`/git/commits/${oid}`)]).toEqual([oid, 404]);
      expect(await read(`/git/commits/${oid.slice(0, 12)}`)).toBe(404);
      expect(await read(`/commits?sha=${oid}`)).toBe(404);
      expect(await read(`/raw/kept?ref=${oid}`)).toBe(404);
      expect(await read(`/contents?ref=${oid}`)).toBe(404);
      expect(await read(`/archive/${oid}.tar.gz`)).toBe(404);
      expect(await read(`/compare/main...${oid}`)).toBe(404);
      expect(await read(`/compare/main...${owner.name}:topic`)).toBe(404);
      const branch = { new_branch_name: "b", old_ref_name: oid };
      const made = await call("POST", `${path}/branches`, { as: owner, json: branch });
      expect(made.status).toBeGreaterThanOrEqual(400);
    }
    // As an object that never was.
    const never = await call("GET", `${path}/git/blobs/${"f".repeat(40)}`);
    const secret = await call("GET", `${path}/git/blobs/${secretOid}`);
    expect([secret.status, secret.body]).toEqual([never.status, never.body]);
    expect(secret.status).toBe(400);
    // The same in the template, to which they belong.
    const own = `/repos/${template.owner}/${template.name}`;
    const found = await call("GET", `${own}/git/blobs/${secretOid}`, { as: owner });
    expect(found.status).toBe(200);

    // A push that builds on what the refs of the new repository do not reach.
    const other = new History();
    const onTop = other.commit({ files: { kept: "kept" }, parents: [head] });
    const to = { owner: owner.name, name: body.name };
    for (const [oid, pack] of [
      [onTop, other.build()],
      [head, makeEmptyPack()],
    ] as const) {
      const pushed = await push(owner, to, oid, pack, "refs/heads/stolen");
      expect(pushed.body).toMatch(/ng refs\/heads\/stolen|unpack [^o]/);
    }
    expect((await refsOf(await placeOf(body.id))).map(({ name }) => name)).toEqual([
      "refs/heads/main",
    ]);
  });

  it("is no fork: its pull requests come from its own forks, and not from the template", async () => {
    const { owner, template } = await makeTemplate();
    const user = await make.user();
    const made = (await generate(user, template)).body;
    const forker = await make.user();
    const forkOf = async (fullName: string) =>
      (
        await call("POST", `/repos/${fullName}/forks`, {
          as: forker,
          json: { name: freshName("f") },
        })
      ).body;
    // One of each, in one network of packs.
    const [ofTemplate, ofMade] = [
      await forkOf(`${template.owner}/${template.name}`),
      await forkOf(made.full_name),
    ];
    expect(ofMade.parent.id).toBe(made.id);
    for (const fork of [ofTemplate, ofMade]) {
      const json = { content: btoa("text"), message: "Add", new_branch: "topic" };
      const { status } = await call("POST", `/repos/${fork.full_name}/contents/${fork.name}`, {
        as: forker,
        json,
      });
      expect(status).toBe(201);
    }
    const open = (fullName: string, head: string, as = forker) =>
      call("POST", `/repos/${fullName}/pulls`, { as, json: { base: "main", head, title: "T" } });
    const toMade = await open(made.full_name, `${forker.name}:topic`);
    expect(toMade).toMatchObject({ status: 201, body: { head: { repo: { id: ofMade.id } } } });
    const toTemplate = await open(`${template.owner}/${template.name}`, `${forker.name}:topic`);
    expect(toTemplate.body.head.repo.id).toBe(ofTemplate.id);
    expect(
      (await open(`${template.owner}/${template.name}`, `${user.name}:main`, user)).status,
    ).toBe(404);
    expect((await open(made.full_name, `${owner.name}:main`, owner)).status).toBe(404);
  });

  it("outlives its template, and that what it shares is collected", async () => {
    const { owner, template, made } = await makeTemplate({ a: "a", "d/b": "b" });
    const user = await make.user();
    const [used, unused] = [
      (await generate(user, template)).body,
      (await generate(user, template)).body,
    ];
    expect(Object.keys(await treeOf(used.full_name, user))).toHaveLength(2);
    await call("DELETE", `/repos/${template.owner}/${template.name}`, { as: owner });
    const day = 25 * 3600 * 1000;
    for (const at of [0, day, 2 * day]) {
      for (const location of [template, await placeOf(used.id), await placeOf(unused.id)]) {
        await maintainRepository(systemCtx({}, Date.now() + at), location);
      }
    }
    for (const { full_name: fullName } of [used, unused]) {
      expect(await treeOf(fullName, user)).toEqual({
        a: ["100644", made.oids["a"]],
        "d/b": ["100644", made.oids["d/b"]],
      });
      expect(await rawOf(fullName, "d/b", user)).toBe("b");
    }
  });

  it("has what the template had then, also if it is used after later pushes", async () => {
    const { owner, template, made } = await makeTemplate({ a: "a" });
    const user = await make.user();
    const { body } = await generate(user, template);
    const next = makeFiles({ b: "b" });
    const command = { ref: "refs/heads/main", old: made.oid, new: next.oid };
    await pushCommands(owner, template, [command], { pack: next.pack });
    expect(await treeOf(body.full_name, user)).toEqual({ a: ["100644", made.oids["a"]] });
    expect(await treeOf((await generate(user, template)).body.full_name, user)).toEqual({
      b: ["100644", next.oids["b"]],
    });
  });

  it("can be a template itself, at any depth", async () => {
    const { template, made } = await makeTemplate({ a: "a" });
    const user = await make.user();
    let from: { owner: string; name: string } = template;
    for (let depth = 0; depth < 8; depth++) {
      const { status, body } = await generate(user, from as TestRepo);
      expect(status).toBe(201);
      expect(await treeOf(body.full_name, user)).toEqual({ a: ["100644", made.oids["a"]] });
      from = { owner: user.name, name: body.name };
      await call("PATCH", `/repos/${body.full_name}`, { as: user, json: { template: true } });
    }
  });

  it("creates it for the caller, an organization, or by an administrator for another", async () => {
    const { template } = await makeTemplate();
    const [user, stranger, admin] = [await make.user(), await make.user(), await make.admin()];
    const org = await make.org([user]);
    const hidden = await make.org([stranger], { visibility: "private" });
    const ask = async (as: TestUser, owner: string) =>
      (await generate(as, template, { owner })).status;

    expect(await ask(user, user.name.toUpperCase())).toBe(201);
    expect(await ask(user, org.name)).toBe(201);
    expect(await ask(admin, user.name)).toBe(201);
    expect(await ask(stranger, org.name)).toBe(403);
    expect(await ask(stranger, user.name)).toBe(403);
    for (const name of ["", freshName("none"), hidden.name])
      expect(await ask(user, name)).toBe(404);
    expect(await named(org.id)).toHaveLength(1);
    expect(await named(user.id)).toHaveLength(2);
  });

  it("refuses what is no template, or not for the caller", async () => {
    const { owner, template } = await makeTemplate();
    const plain = await makeTemplate({ file: "a" }, { isTemplate: false });
    const hidden = await makeTemplate({ file: "a" }, { isPrivate: true });
    const noCode = await makeTemplate({ file: "a" }, { hasCode: false });
    const user = await make.user();
    const taken = await make.repo(user);
    const full = await make.user({ repoCountMax: 0 });
    const ask = async (as: TestUser, of: TestRepo, json: object = {}) =>
      (await generate(as, of, json)).status;

    expect(await ask(user, plain.template)).toBe(422);
    expect(await ask(user, hidden.template)).toBe(404);
    expect(await ask(user, noCode.template)).toBe(404);
    expect(await ask(user, { ...template, name: freshName("none") })).toBe(404);
    expect(await ask(user, template, { name: taken.name })).toBe(409);
    expect(await ask(full, template)).toBe(403);
    for (const name of ["", "a b", "..", "x.git", "n".repeat(101)]) {
      expect(await ask(user, template, { name })).toBe(422);
    }
    expect(await ask(user, template, { description: "d".repeat(2049) })).toBe(422);
    expect(await ask(user, template, { default_branch: "a..b" })).toBe(422);
    const path = `/repos/${template.owner}/${template.name}/generate`;
    const json = { owner: owner.name, name: "made", git_content: true };
    expect((await call("POST", path, { json })).status).toBe(401);
    const token = await make.token(user, { scopes: "read:repository" });
    expect((await call("POST", path, { token, json })).status).toBe(403);
    const bound = await make.token(user, { repos: [taken] });
    expect((await call("POST", path, { token: bound, json })).status).toBe(404);
    const [open] = [await make.token(user, { scopes: "all,public-only" })];
    const sent = { ...json, owner: user.name, private: true };
    expect((await call("POST", path, { token: open, json: sent })).status).toBe(403);
    expect(await named(user.id)).toHaveLength(1);
    expect(await named(full.id)).toEqual([]);
  });
});
