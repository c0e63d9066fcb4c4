import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";

import { emailAddresses, repositories } from "../../../src/db/schema/index.ts";
import { MODE_SUBMODULE, MODE_SYMLINK } from "../../../src/git/object/tree.ts";
import { Browser, SAME_ORIGIN } from "../../support/browser.ts";
import { call, visit } from "../../support/call.ts";
import { formTokenOf } from "../../support/credentials.ts";
import { db } from "../../support/db.ts";
import { makeFiles, type TestFile } from "../../support/files.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { makeRule } from "../../support/protections.ts";
import { refsOf, storeRefs } from "../../support/push.ts";

const BAD = `"><script>alert(1)</script>`;
const ESCAPED = "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;";

let owner: TestUser;
let browser: Browser;
let stranger: TestUser;
let reader: Browser;
beforeAll(async () => {
  owner = await make.userWithPassword();
  browser = await Browser.signedIn(owner);
  stranger = await make.userWithPassword();
  reader = await Browser.signedIn(stranger);
});

const FILES: Record<string, TestFile> = {
  "README.md": "# Hello\n",
  "src/a.txt": "one\ntwo\nthree\n",
};

/** A repository whose `main` has files. */
async function makeScene(files = FILES, fields: Parameters<typeof make.repo>[1] = {}) {
  const repo = await make.repo(owner, fields);
  const { oid, pack, oids } = makeFiles(files);
  await storeRefs(repo, [{ ref: "refs/heads/main", oid }], pack);
  return { repo, oid, oids, path: `/${owner.name}/${repo.name}` };
}

const textAt = async (repo: Pick<TestRepo, "owner" | "name">, path: string, ref = "main") => {
  const { status, body } = await call(
    "GET",
    `/repos/${repo.owner}/${repo.name}/raw/${path}?ref=${encodeURIComponent(ref)}`,
    {
      as: owner,
    },
  );
  return status === 200 ? String(body) : undefined;
};

const commitAt = async (repo: Pick<TestRepo, "owner" | "name">, ref = "main") => {
  const { body } = await call(
    "GET",
    `/repos/${repo.owner}/${repo.name}/commits?limit=1&sha=${encodeURIComponent(ref)}`,
    { as: owner },
  );
  return body[0];
};

const branchesOf = async (repo: TestRepo) => (await refsOf(repo)).map(({ name }) => name);

/** The text of the form's field. */
const contentIn = (page: unknown): string | undefined =>
  /<textarea id="content"[^>]*>\n([^]*?)<\/textarea>/.exec(String(page))?.[1];

describe("the page that edits a file", () => {
  it("commits to the branch, as its author signs off, and leads to the file", async () => {
    const { repo, path } = await makeScene();
    const page = await browser.get(`${path}/_edit/main/src/a.txt`);
    expect(page.status).toBe(200);
    expect(contentIn(page.body)).toBe("one\ntwo\nthree\n");

    const { status, headers } = await browser.submit(`${path}/_edit/main/src/a.txt`, {
      tree_path: "src/a.txt",
      content: "one\r\n2\r\nthree\r\n",
      commit_summary: "Say two shorter",
      commit_message: "It is a digit.",
      commit_choice: "direct",
      signoff: "on",
    });

    expect(status).toBe(303);
    expect(headers.get("Location")).toBe(`${path}/src/branch/main/src/a.txt`);
    expect(await textAt(repo, "src/a.txt")).toBe("one\n2\nthree\n");
    const { commit } = await commitAt(repo);
    expect(commit.message).toBe(
      `Say two shorter\n\nIt is a digit.\n\nSigned-off-by: ${commit.committer.name} <${commit.committer.email}>\n`,
    );
    expect(commit.author.email).toBe(owner.email);
  });

  it("renames with the path, and keeps the mode of a program", async () => {
    const program = { mode: 0o100755, content: "#!/bin/sh\n" };
    const { repo, path } = await makeScene({ run: program });
    await browser.submit(`${path}/_edit/main/run`, {
      tree_path: "bin/start",
      content: "#!/bin/sh\nexit\n",
    });
    expect(await textAt(repo, "run")).toBeUndefined();
    expect(await textAt(repo, "bin/start")).toBe("#!/bin/sh\nexit\n");
    const { body } = await call("GET", `/repos${path}/git/trees/main?recursive=1`, { as: owner });
    expect(body.tree).toContainEqual(
      expect.objectContaining({ path: "bin/start", mode: "100755" }),
    );
  });

  it("keeps a path with spaces around it, which is typed no more", async () => {
    const { repo, path } = await makeScene({ " a ": "one\n" });
    const fields = { tree_path: " a ", content: "two\n", commit_choice: "direct" };
    const { headers } = await browser.submit(`${path}/_edit/main/%20a%20`, fields);
    expect(headers.get("Location")).toBe(`${path}/src/branch/main/%20a%20`);
    expect(await textAt(repo, "%20a%20")).toBe("two\n");
    expect(await textAt(repo, "a")).toBeUndefined();
  });

  it("commits to a new branch, and leads to the form of its pull request", async () => {
    const { repo, path } = await makeScene();
    const fields = {
      tree_path: "README.md",
      content: "# Bye\n",
      commit_choice: "commit-to-new-branch",
      new_branch_name: "bye",
    };
    const first = await browser.submit(`${path}/_edit/main/README.md`, fields);
    expect(first.headers.get("Location")).toBe(`${path}/compare/main...bye`);
    expect(await textAt(repo, "README.md", "bye")).toBe("# Bye\n");
    expect(await textAt(repo, "README.md")).toBe("# Hello\n");

    const refs = await refsOf(repo);
    const again = await browser.submit(`${path}/_edit/main/README.md`, fields);
    expect(again.headers.get("Location")).toBe(`${path}/compare/main...bye`);
    expect(await refsOf(repo)).toEqual(refs);
  });

  it("commits once where it is sent twice", async () => {
    const { repo, path, oids } = await makeScene();
    const token = formTokenOf((await browser.get(`${path}/_edit/main/README.md`)).body);
    const fields = {
      _csrf: token,
      sha: oids["README.md"] ?? "",
      tree_path: "README.md",
      content: "# Twice\n",
    };
    const first = await browser.post(`${path}/_edit/main/README.md`, fields);
    const refs = await refsOf(repo);
    const second = await browser.post(`${path}/_edit/main/README.md`, fields);
    expect([first.status, second.status]).toEqual([303, 303]);
    expect(await refsOf(repo)).toEqual(refs);
  });

  it("shows both texts after a lost race, and replaces the other one if it is sent again", async () => {
    const { repo, path, oids } = await makeScene();
    const token = formTokenOf((await browser.get(`${path}/_edit/main/README.md`)).body);
    const fields = {
      _csrf: token,
      sha: oids["README.md"] ?? "",
      tree_path: "README.md",
      content: "# Mine\n",
    };
    const json = { content: btoa("# Theirs\n"), sha: oids["README.md"] };
    await call("PUT", `/repos${path}/contents/README.md`, { as: owner, json });
    const refs = await refsOf(repo);

    const { status, body } = await browser.post(`${path}/_edit/main/README.md`, fields);

    expect(status).toBe(409);
    expect(body).toContain("Somebody else has changed the file meanwhile");
    expect(contentIn(body)).toBe("# Mine\n");
    expect(body).toMatch(/<pre class="message theirs"># Theirs\n<\/pre>/);
    expect(await refsOf(repo)).toEqual(refs);
    const [, sha = ""] = /name="sha" value="([0-9a-f]{40})"/.exec(String(body)) ?? [];
    expect((await browser.post(`${path}/_edit/main/README.md`, { ...fields, sha })).status).toBe(
      303,
    );
    expect(await textAt(repo, "README.md")).toBe("# Mine\n");
  });

  it("keeps the text where the file was deleted meanwhile, and creates it anew", async () => {
    const { repo, path, oids } = await makeScene();
    const token = formTokenOf((await browser.get(`${path}/_edit/main/README.md`)).body);
    await call("DELETE", `/repos${path}/contents/README.md`, {
      as: owner,
      json: { sha: oids["README.md"] },
    });
    const fields = { _csrf: token, tree_path: "README.md", content: "# Mine\n" };
    const sha = oids["README.md"] ?? "";
    const lost = await browser.post(`${path}/_edit/main/README.md`, { ...fields, sha });
    expect(lost.status).toBe(409);
    expect(contentIn(lost.body)).toBe("# Mine\n");
    expect(lost.body).toMatch(/name="sha" value=""/);
    await browser.post(`${path}/_edit/main/README.md`, { ...fields, sha: "" });
    expect(await textAt(repo, "README.md")).toBe("# Mine\n");
  });

  it("shows what it would commit, and commits nothing", async () => {
    const { repo, path } = await makeScene();
    const refs = await refsOf(repo);
    const fields = { tree_path: "README.md", content: `# Hello\n*${BAD}*\n` };
    const diff = await browser.submit(`${path}/_edit/main/README.md`, {
      ...fields,
      action: "diff",
    });
    expect(diff.status).toBe(200);
    expect(diff.body).toMatch(/class="added"/);
    expect(diff.body).toContain("1 added, 0 removed");
    expect(diff.body).not.toContain(BAD);
    expect(contentIn(diff.body)).toContain(ESCAPED);
    const shown = await browser.submit(`${path}/_edit/main/README.md`, {
      ...fields,
      content: "# Title\n\n*leaning*",
      action: "preview",
    });
    expect(shown.body).toContain("<em>leaning</em>");
    expect(await refsOf(repo)).toEqual(refs);
  });

  it("keeps line ends and the byte order mark, and says that mixed ones become the same", async () => {
    const { repo, path } = await makeScene({
      dos: "\uFEFFa\r\nb\r\n",
      mixed: "a\r\nb\nc\r\n",
    });
    await browser.submit(`${path}/_edit/main/dos`, {
      ...(await hiddenOf(`${path}/_edit/main/dos`)),
      tree_path: "dos",
      content: "a\r\nc\r\n",
    });
    const { body } = await call("GET", `/repos${path}/contents/dos`, { as: owner });
    expect(atob(body.content)).toBe("\xEF\xBB\xBFa\r\nc\r\n");
    expect(repo.name).not.toBe("");
    expect((await browser.get(`${path}/_edit/main/mixed`)).body).toContain(
      "All will end with CRLF",
    );
  });

  it("honors the .editorconfig of the path", async () => {
    const { repo, path } = await makeScene({
      ".editorconfig":
        "[*]\nindent_style = tab\ntrim_trailing_whitespace = true\ninsert_final_newline = true\n[*.bat]\nend_of_line = crlf\nindent_size = 3\n",
      "a.txt": "a\n",
    });
    const page = await browser.get(`${path}/_edit/main/a.txt`);
    expect(page.body).toMatch(/<textarea id="content"[^>]*data-indent-style="tab"/);
    await browser.submit(`${path}/_edit/main/a.txt`, {
      tree_path: "run.bat",
      content: "a  \r\nb\t",
    });
    expect(await textAt(repo, "run.bat")).toBe("a\r\nb\r\n");
  });

  it.each([
    ["a symbolic link", "link", "symbolic link", false],
    ["a submodule", "module", "submodule", false],
    ["bytes", "bytes", "no text in UTF-8", true],
    ["another encoding", "latin", "no text in UTF-8", true],
    ["a large file", "large", "larger than 1.0 MiB", true],
    ["a pointer of Git LFS", "pointer", "Git LFS", true],
  ])("has no field for %s", async (_name, file, reason, isRenamed) => {
    const { path, repo } = await makeScene({
      link: { mode: MODE_SYMLINK, content: "bytes" },
      module: { mode: MODE_SUBMODULE, content: "1".repeat(40) },
      bytes: new Uint8Array([0, 1, 2]),
      latin: new Uint8Array([0xe4, 0x0a]),
      large: "a".repeat(1024 * 1024 + 1),
      pointer: `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 5\n`,
    });
    const { status, body } = await browser.get(`${path}/_edit/main/${file}`);
    expect(status).toBe(200);
    expect(body).toContain(reason);
    expect(contentIn(body)).toBeUndefined();
    expect(body).toContain(`${path}/_delete/main/${file}`);
    if (!isRenamed) return;
    const sent = await browser.submit(`${path}/_edit/main/${file}`, { tree_path: `new/${file}` });
    expect(sent.status).toBe(303);
    expect(await call("GET", `/repos${path}/contents/new/${file}`, { as: owner })).toMatchObject({
      status: 200,
    });
    expect(await textAt(repo, file)).toBeUndefined();
  });

  it.each([
    ["a path that no system takes", { tree_path: "a/../b" }, "tree_path"],
    ["an empty path", { tree_path: " " }, "tree_path"],
    ["a path below a file", { tree_path: "README.md/a" }, "tree_path"],
    ["another file's path", { tree_path: "README.md" }, "tree_path"],
    ["a description alone", { commit_message: "text" }, "commit_summary"],
    ["an address of somebody else", { commit_email: "b@example.com" }, "commit_email"],
    [
      "a bad name of a branch",
      { commit_choice: "commit-to-new-branch", new_branch_name: "a..b" },
      "new_branch_name",
    ],
    [
      "a branch that exists",
      { commit_choice: "commit-to-new-branch", new_branch_name: "main" },
      "new_branch_name",
    ],
  ])("refuses %s beside its field, and keeps the text", async (_name, fields, field) => {
    const { repo, path } = await makeScene();
    const second = { email: `second-${owner.name}@example.com` };
    await db
      .insert(emailAddresses)
      .values({
        userId: owner.id,
        email: second.email,
        lowerEmail: second.email,
        isActivated: true,
        isPrimary: false,
      })
      .onConflictDoNothing();
    const refs = await refsOf(repo);
    const { status, body } = await browser.submit(`${path}/_edit/main/src/a.txt`, {
      tree_path: "src/a.txt",
      content: "kept\n",
      ...fields,
    });
    expect(status).toBe(422);
    expect(contentIn(body)).toBe("kept\n");
    expect(body).toMatch(new RegExp(`id="${field}-fault"[^>]*role="alert"`));
    expect(await refsOf(repo)).toEqual(refs);
  });

  it("takes a confirmed address, and the no-reply one", async () => {
    const { repo, path } = await makeScene();
    const { body } = await browser.get(`${path}/_edit/main/README.md`);
    const [noReply = ""] = /[^">]+@noreply[^"<]+/.exec(String(body)) ?? [];
    expect(noReply).toContain("@noreply.");
    await browser.submit(`${path}/_edit/main/README.md`, {
      tree_path: "README.md",
      content: "# By nobody\n",
      commit_email: noReply,
      signoff: "on",
    });
    const { commit } = await commitAt(repo);
    expect(commit.author.email).toBe(noReply);
    expect(commit.message).toContain(`<${noReply}>`);
  });

  it("refuses a commit without a change", async () => {
    const { repo, path } = await makeScene();
    const refs = await refsOf(repo);
    const { status, body } = await browser.submit(`${path}/_edit/main/README.md`, {
      tree_path: "README.md",
      content: "# Hello\n",
    });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body).toContain("there is nothing to commit");
    expect(await refsOf(repo)).toEqual(refs);
  });
});

/** The hidden fields of the editor's form. */
async function hiddenOf(path: string): Promise<Record<string, string>> {
  const { body } = await browser.get(path);
  return Object.fromEntries(
    Array.from(
      String(body).matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g),
      ([, name = "", value = ""]) => [name, value],
    ),
  );
}

describe("a protected branch", () => {
  it("leads to a new branch, with the reason", async () => {
    const { repo, path } = await makeScene();
    await makeRule(repo, { settings: { isPushEnabled: false } });
    const { body } = await browser.get(`${path}/_edit/main/README.md`);
    expect(body).toContain("The rules of main do not let you commit to it");
    expect(body).toMatch(/value="direct"[^>]*disabled/);
    const refs = await refsOf(repo);
    const fields = { tree_path: "README.md", content: "# Bye\n" };
    const direct = await browser.submit(`${path}/_edit/main/README.md`, {
      ...fields,
      commit_choice: "direct",
    });
    expect(direct.status).toBe(403);
    expect(contentIn(direct.body)).toBe("# Bye\n");
    expect(await refsOf(repo)).toEqual(refs);
    const branch = await browser.submit(`${path}/_edit/main/README.md`, {
      ...fields,
      commit_choice: "commit-to-new-branch",
      new_branch_name: "bye",
    });
    expect(branch.headers.get("Location")).toBe(`${path}/compare/main...bye`);
  });

  it("does so where it protects the file, and not for another file", async () => {
    const { repo, path } = await makeScene();
    await makeRule(repo, { settings: { isPushEnabled: true, protectedFilePatterns: "src/**" } });
    expect((await browser.get(`${path}/_edit/main/src/a.txt`)).body).toMatch(/do not let you/);
    expect((await browser.get(`${path}/_edit/main/README.md`)).body).not.toMatch(/do not let you/);
    const { status, body } = await browser.submit(`${path}/_edit/main/README.md`, {
      tree_path: "src/README.md",
      content: "# Bye\n",
    });
    expect(status).toBe(403);
    expect(body).toMatch(/id="commit_choice-fault"/);
    expect(await textAt(repo, "src/README.md")).toBeUndefined();
  });
});

describe("the page of a new file", () => {
  it("makes the directories of its path", async () => {
    const { repo, path } = await makeScene();
    const page = await browser.get(`${path}/_new/main/docs`);
    expect(page.body).toMatch(/name="tree_path"[^>]*value="docs\/"/);
    const { headers } = await browser.submit(`${path}/_new/main/docs`, {
      tree_path: "docs/deep/a b.md",
      content: "text",
    });
    expect(headers.get("Location")).toBe(`${path}/src/branch/main/docs/deep/a%20b.md`);
    expect(await textAt(repo, "docs/deep/a b.md")).toBe("text");
    expect((await commitAt(repo)).commit.message).toBe("Add docs/deep/a b.md\n");
  });

  it("refuses the path of a file that exists, beside the path", async () => {
    const { repo, path } = await makeScene();
    const refs = await refsOf(repo);
    const { status, body } = await browser.submit(`${path}/_new/main`, {
      tree_path: "README.md",
      content: "other",
    });
    expect(status).toBe(422);
    expect(body).toMatch(/id="tree_path-fault"/);
    expect(contentIn(body)).toBe("other");
    expect(await refsOf(repo)).toEqual(refs);
  });

  it("begins an empty repository", async () => {
    const repo = await make.repo(owner, { isEmpty: true });
    const path = `/${owner.name}/${repo.name}`;
    expect((await browser.get(path)).body).toContain(`${path}/_new/main`);
    const page = await browser.get(`${path}/_new/main`);
    expect(page.body).toContain("It is the first commit");
    const { status } = await browser.submit(`${path}/_new/main`, {
      tree_path: "a.txt",
      content: "first",
    });
    expect(status).toBe(303);
    expect(await textAt(repo, "a.txt")).toBe("first");
  });
});

describe("the page that deletes a file", () => {
  it("asks, deletes, and leads to the directory", async () => {
    const { repo, path } = await makeScene({ ...FILES, "src/b.txt": "stays" });
    expect((await browser.get(`${path}/_delete/main/src/a.txt`)).status).toBe(200);
    expect(await textAt(repo, "src/a.txt")).toBeDefined();
    const { headers } = await browser.submit(`${path}/_delete/main/src/a.txt`, {});
    expect(headers.get("Location")).toBe(`${path}/src/branch/main/src`);
    expect(await textAt(repo, "src/a.txt")).toBeUndefined();
    expect((await commitAt(repo)).commit.message).toBe("Delete src/a.txt\n");
  });

  it("leads to the deepest directory that is left, also where it is sent twice", async () => {
    const { path } = await makeScene({ "a/b/c/only": "1", "a/other": "2" });
    const address = `${path}/_delete/main/a/b/c/only`;
    const page = await browser.get(address);
    const fields = {
      _csrf: formTokenOf(page.body),
      sha: /name="sha" value="(\w+)"/.exec(String(page.body))?.[1] ?? "",
    };
    for (let time = 0; time < 2; time++) {
      const { headers } = await browser.post(address, fields);
      expect(headers.get("Location")).toBe(`${path}/src/branch/main/a`);
    }
    const { headers } = await browser.submit(`${path}/_delete/main/a/other`);
    expect(headers.get("Location")).toBe(path);
  });

  it("refuses a file that somebody else has changed meanwhile", async () => {
    const { repo, path } = await makeScene();
    const refs = await refsOf(repo);
    const { status } = await browser.submit(`${path}/_delete/main/README.md`, {
      sha: "1".repeat(40),
    });
    expect(status).toBe(409);
    expect(await refsOf(repo)).toEqual(refs);
  });
});

describe("the page that uploads files", () => {
  const upload = async (
    path: string,
    fields: Record<string, string>,
    files: [string, string][],
  ) => {
    const token = formTokenOf((await browser.get(path)).body);
    const body = new FormData();
    body.append("_csrf", token);
    body.append("tree_path", fields["tree_path"] ?? "");
    for (const [name, content] of files) body.append("files", new File([content], name), name);
    for (const [name, value] of Object.entries(fields))
      if (name !== "tree_path") body.append(name, value);
    return browser.postForm(path, body, SAME_ORIGIN);
  };

  it("commits files of directories at once, and replaces what is there", async () => {
    const { repo, path, oid } = await makeScene();
    const many = Array.from(
      { length: 30 },
      (_, at) => [`site/p/${at}.html`, `page ${at}`] as [string, string],
    );
    const { headers, status } = await upload(
      `${path}/_upload/main/src`,
      { tree_path: "src", commit_summary: "Add the site" },
      [...many, ["a.txt", "replaced"]],
    );
    expect(status).toBe(303);
    expect(headers.get("Location")).toBe(`${path}/src/branch/main/src`);
    expect(await textAt(repo, "src/site/p/29.html")).toBe("page 29");
    expect(await textAt(repo, "src/a.txt")).toBe("replaced");
    const commit = await commitAt(repo);
    expect(commit.commit.message).toBe("Add the site\n");
    expect(commit.parents.map(({ sha }: { sha: string }) => sha)).toEqual([oid]);
  });

  it.each([
    ["none", [], "files-fault"],
    ["one with a bad path", [["../a", "x"]] as [string, string][], "tree_path-fault"],
  ])("refuses %s", async (_name, files, fault) => {
    const { repo, path } = await makeScene();
    const refs = await refsOf(repo);
    const { status, body } = await upload(
      `${path}/_upload/main`,
      { commit_summary: "Kept" },
      files,
    );
    expect(status).toBe(422);
    expect(body).toContain(`id="${fault}"`);
    expect(body).toMatch(/name="commit_summary"[^>]*value="Kept"/);
    expect(await refsOf(repo)).toEqual(refs);
  });

  it("refuses more bytes than a commit takes", async () => {
    const { repo, path } = await makeScene();
    const refs = await refsOf(repo);
    const large = "a".repeat(5 * 1024 * 1024);
    const files: [string, string][] = [
      ["a", large],
      ["b", large],
    ];
    const { status, body } = await upload(`${path}/_upload/main`, {}, files);
    expect(status).toBe(413);
    expect(body).toContain("push them with git");
    expect(await refsOf(repo)).toEqual(refs);
  });
});

describe("the page that applies a patch", () => {
  const PATCH = `diff --git a/src/a.txt b/src/a.txt
--- a/src/a.txt
+++ b/src/a.txt
@@ -1,3 +1,3 @@
 one
-two
+2
 three
`;

  it("commits it", async () => {
    const { repo, path } = await makeScene();
    const { status } = await browser.submit(`${path}/_diffpatch/main`, {
      content: PATCH.replaceAll("\n", "\r\n"),
      commit_summary: "Shorter",
    });
    expect(status).toBe(303);
    expect(await textAt(repo, "src/a.txt")).toBe("one\n2\nthree\n");
  });

  it("names the file that it does not fit, and commits nothing", async () => {
    const { repo, path } = await makeScene();
    const refs = await refsOf(repo);
    const { status, body } = await browser.submit(`${path}/_diffpatch/main`, {
      content: PATCH.replace(" one", " other"),
    });
    expect(status).toBe(422);
    expect(body).toContain("The patch does not fit src/a.txt");
    expect(await refsOf(repo)).toEqual(refs);
  });
});

describe("the page that picks a commit", () => {
  /** A branch `topic` with a commit that changes a file. */
  async function makeTopic(text = "one\n2\nthree\n") {
    const scene = await makeScene();
    const { path, oids } = scene;
    const { body } = await call("PUT", `/repos${path}/contents/src/a.txt`, {
      as: owner,
      json: {
        content: btoa(text),
        sha: oids["src/a.txt"],
        new_branch: "topic",
        message: "Shorten\n\nIt is long.",
        author: { name: "Ada", email: "ada@example.com" },
      },
    });
    return { ...scene, picked: String(body.commit.sha) };
  }

  it("makes it again on a branch, with its author", async () => {
    const { repo, path, picked } = await makeTopic();
    expect((await browser.get(`${path}/commit/${picked}`)).body).toContain(
      `${path}/_cherrypick/${picked}/main`,
    );
    const page = await browser.get(`${path}/_cherrypick/${picked}/main`);
    expect(page.body).toMatch(/name="commit_summary"[^>]*value="Shorten"/);
    expect(page.body).toContain(`(cherry picked from commit ${picked})`);
    const { status } = await browser.submit(`${path}/_cherrypick/${picked}/main`, {
      commit_summary: "Shorten",
      commit_message: "Again.",
    });
    expect(status).toBe(303);
    expect(await textAt(repo, "src/a.txt")).toBe("one\n2\nthree\n");
    const { commit } = await commitAt(repo);
    expect(commit.message).toBe("Shorten\n\nAgain.\n");
    expect(commit.author.email).toBe("ada@example.com");
    expect(commit.committer.email).toBe(owner.email);
    const again = await browser.submit(`${path}/_cherrypick/${picked}/main`, {});
    expect(again.body).toContain("The branch has this change already");
  });

  it("reverts it on a new branch", async () => {
    const { repo, path, picked } = await makeTopic();
    const address = `${path}/_cherrypick/${picked}/topic`;
    const token = formTokenOf((await browser.get(`${address}?cherry-pick-type=revert`)).body);
    const { headers } = await browser.post(`${address}?cherry-pick-type=revert`, {
      _csrf: token,
      commit_choice: "commit-to-new-branch",
      new_branch_name: "back",
    });
    expect(headers.get("Location")).toBe(`${path}/compare/topic...back`);
    expect(await textAt(repo, "src/a.txt", "back")).toBe("one\ntwo\nthree\n");
    expect((await commitAt(repo, "back")).commit.message).toBe(
      `Revert "Shorten"\n\nThis reverts commit ${picked}.\n`,
    );
  });

  it("names the files in conflict, and commits nothing", async () => {
    const { repo, path, picked, oids } = await makeTopic();
    await call("PUT", `/repos${path}/contents/src/a.txt`, {
      as: owner,
      json: { content: btoa("one\nzwei\nthree\n"), sha: oids["src/a.txt"] },
    });
    const refs = await refsOf(repo);
    const { status, body } = await browser.submit(`${path}/_cherrypick/${picked}/main`, {});
    expect(status).toBe(409);
    expect(body).toContain("Merge conflicts in src/a.txt");
    expect(await refsOf(repo)).toEqual(refs);
  });

  it("leads from the form of a branch to its address", async () => {
    const { path, picked } = await makeTopic();
    const { headers } = await browser.get(`${path}/_cherrypick/${picked}?branch=topic`);
    expect(headers.get("Location")).toBe(`${path}/_cherrypick/${picked}/topic`);
  });
});

describe("a reader who may not write", () => {
  it("makes a fork first, and then proposes the change on top of the newest commit", async () => {
    const { repo, path, oids } = await makeScene();
    const address = `${path}/_edit/main/README.md`;
    const first = await reader.get(address);
    expect(first.body).toContain("Make a fork of your own first");
    const forked = await reader.submit(address, { name: repo.name });
    expect(forked.headers.get("Location")).toBe(address);
    // The fork is behind by then.
    const json = { content: btoa("# Newer\n"), sha: oids["README.md"] };
    await call("PUT", `/repos${path}/contents/README.md`, { as: owner, json });
    const before = await refsOf(repo);

    const page = await reader.get(address);
    expect(contentIn(page.body)).toBe("# Newer\n");
    expect(page.body).toContain(`${stranger.name}/${repo.name}`);
    const { headers, status } = await reader.submit(address, {
      tree_path: "README.md",
      content: "# Newest\n",
      commit_choice: "direct",
      new_branch_name: "proposal",
    });

    expect(status).toBe(303);
    expect(headers.get("Location")).toBe(
      `${path}/compare/main...${stranger.name}/${repo.name}%3Aproposal`,
    );
    expect(await refsOf(repo)).toEqual(before);
    const fork = { owner: stranger.name, name: repo.name };
    expect(await textAt(fork, "README.md", "proposal")).toBe("# Newest\n");
    const commit = await commitAt(fork, "proposal");
    const upstream = await commitAt(repo);
    expect(commit.parents.map(({ sha }: { sha: string }) => sha)).toEqual([upstream.sha]);
    expect(String((await reader.get(headers.get("Location") ?? "")).body)).toContain("Newest");
  });

  it("makes no fork unasked where it is gone by now, and keeps the text", async () => {
    const { repo, path } = await makeScene();
    const address = `${path}/_edit/main/README.md`;
    await reader.submit(address, { name: repo.name });
    const page = await reader.get(address);
    const fork = `/repos/${stranger.name}/${repo.name}`;
    expect((await call("DELETE", fork, { as: stranger })).status).toBe(204);
    const sent = await reader.post(address, {
      _csrf: formTokenOf(page.body),
      tree_path: "README.md",
      content: "# A long text",
      new_branch_name: "proposal",
    });
    expect(sent.status).toBe(409);
    expect(sent.body).toContain("# A long text");
    expect((await call("GET", fork, { as: stranger })).status).toBe(404);
    const file = new File(["1"], "a.txt");
    const fields = { _csrf: formTokenOf(page.body), tree_path: "" };
    expect((await reader.postFiles(`${path}/_upload/main`, fields, [file])).status).toBe(409);
    expect((await call("GET", fork, { as: stranger })).status).toBe(404);
  });

  it("patches and uploads into the fork, too, and picks nothing", async () => {
    const { repo, path, oid } = await makeScene();
    await reader.submit(`${path}/_diffpatch/main`, { name: repo.name });
    const patch = "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n";
    const sent = await reader.submit(`${path}/_diffpatch/main`, {
      content: patch,
      new_branch_name: "patched",
    });
    expect(sent.status).toBe(303);
    const fork = { owner: stranger.name, name: repo.name };
    expect(await textAt(fork, "new.txt", "patched")).toBe("new\n");
    expect((await commitAt(fork, "patched")).parents[0].sha).toBe(oid);
    expect((await reader.get(`${path}/_cherrypick/${oid}/main`)).status).toBe(404);
    expect(String((await reader.get(`${path}/commit/${oid}`)).body)).not.toContain("_cherrypick");
  });
});

describe("who opens the pages that change files", () => {
  const ROUTES = [
    "_new/main",
    "_edit/main/README.md",
    "_delete/main/README.md",
    "_upload/main",
    "_diffpatch/main",
  ];

  it.each(ROUTES)("asks anonymous readers to sign in: %s", async (route) => {
    const { path } = await makeScene(FILES, { isPrivate: true, visibility: "private" });
    const answer = await visit("GET", `${path}/${route}`, { headers: { Accept: "text/html" } });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("Location")).toContain("/user/login");
  });

  it.each(ROUTES)("hides what the reader may not see: %s", async (route) => {
    const { path } = await makeScene(FILES, { isPrivate: true, visibility: "private" });
    expect((await reader.get(`${path}/${route}`)).status).toBe(404);
  });

  it.each(ROUTES)(
    "is not there for archives, mirrors and branches that do not exist: %s",
    async (route) => {
      const { repo, path } = await makeScene();
      expect((await browser.get(`${path}/${route.replace("main", "other")}`)).status).toBe(404);
      const set = (fields: object) =>
        db.update(repositories).set(fields).where(eq(repositories.id, repo.id));
      await set({ archivedAt: 5 });
      expect((await browser.get(`${path}/${route}`)).status).toBe(404);
      await set({ archivedAt: null, isMirror: true });
      expect((await browser.get(`${path}/${route}`)).status).toBe(404);
    },
  );

  it.each(ROUTES)("takes a form of this service's own pages alone: %s", async (route) => {
    const { repo, path } = await makeScene();
    const refs = await refsOf(repo);
    const fields = { tree_path: "README.md", content: "x", _csrf: "wrong" };
    expect((await browser.post(`${path}/${route}`, fields)).status).toBe(403);
    const foreign = { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" };
    expect((await browser.post(`${path}/${route}`, fields, foreign)).status).toBe(403);
    expect(await refsOf(repo)).toEqual(refs);
  });

  it.each([1, 2, 3] as const)("lets collaborators write by their access: %s", async (access) => {
    const { repo, path } = await makeScene();
    const user = await make.userWithPassword();
    await make.collaborator(repo, user, access);
    const own = await Browser.signedIn(user);
    const before = await branchesOf(repo);
    const { body } = await own.get(`${path}/_edit/main/README.md`);
    expect(String(body).includes("Make a fork of your own first")).toBe(access === 1);
    if (access === 1) return;
    await own.submit(`${path}/_edit/main/README.md`, {
      tree_path: "README.md",
      content: `# ${access}\n`,
    });
    expect(await textAt(repo, "README.md")).toBe(`# ${access}\n`);
    expect(await branchesOf(repo)).toEqual(before);
  });

  it("links them where the reader may follow, and not to anonymous readers", async () => {
    const { path } = await makeScene();
    for (const each of [browser, reader]) {
      const file = String((await each.get(`${path}/src/branch/main/README.md`)).body);
      expect(file).toContain(`${path}/_edit/main/README.md`);
      expect(String((await each.get(path)).body)).toContain(`${path}/_upload/main`);
    }
    const seen = await visit("GET", `${path}/src/branch/main/README.md`, {
      headers: { Accept: "text/html" },
    });
    expect(String(seen.body)).not.toContain("_edit");
  });
});
