import { beforeAll, describe, expect, it } from "vitest";

import { TOOLS } from "../../src/mcp/tools/index.ts";
import { makeJob, makeRun, makeTask } from "../support/actions.ts";
import { makeIssue, makeLabel, makeMilestone } from "../support/issues.ts";
import { call, visit } from "../support/call.ts";
import { make, type TestRepo, type TestUser } from "../support/make.ts";
import { McpClient } from "../support/mcp.ts";
import { makeNotification } from "../support/notifications.ts";

let user: TestUser;
let client: McpClient;
let repo: TestRepo;
let repository: string;
const called = new Set<string>();

/** Calls a tool in the repository, which does not refuse. */
async function use(name: string, args: Record<string, unknown> = {}) {
  called.add(name);
  const answer = await client.tool(name, args);
  expect(answer.isError, answer.text).toBe(false);
  expect(answer.text).toMatch(/\nAbout \d+ tokens\.$/);
  return answer;
}

const commit = (message: string, files: object[], more: object = {}) =>
  use("commit_files", { repository, message, files, ...more });

beforeAll(async () => {
  user = await make.user();
  client = new McpClient(user.token);
  repository = `${user.name}/tools`;
  await use("create_repository", { name: "tools", readme: true, description: "For tools" });
  const { body } = await call("GET", `/repos/${repository}`, { as: user });
  repo = { id: body.id, ownerId: user.id, owner: user.name, name: "tools" } as TestRepo;
});

describe("repositories", () => {
  it("are found, described, forked and made of templates", async () => {
    const found = await use("search_repositories", { query: "tools", sort: "created" });
    expect(found.structured.items).toContainEqual(
      expect.objectContaining({ repository, default_branch: "main" }),
    );
    const described = await use("get_repository", { repository });
    expect(described.text).toContain("you may administer");
    expect(described.text).toContain("For tools");
    const org = await make.org([user]);
    const fork = await use("fork_repository", { repository, organization: org.name });
    expect(fork.structured.repository).toBe(`${org.name}/tools`);
    await call("PATCH", `/repos/${repository}`, { as: user, json: { template: true } });
    const made = await use("create_repository", {
      name: "of-template",
      owner: org.name,
      template: repository,
    });
    expect(made.structured.repository).toBe(`${org.name}/of-template`);
    const ending = await use("create_repository", { name: "ending", expires_in: 3600 });
    const { body } = await call("GET", `/repos/${ending.structured.repository}`, { as: user });
    expect(Date.parse(body.expires_at) - Date.now()).toBeLessThanOrEqual(3_600_000);
    const read = await use("read_file", {
      repository: made.structured.repository,
      path: "README.md",
    });
    expect(read.text).toContain("# tools");
  });

  it("have branches", async () => {
    await use("create_branch", { repository, branch: "made", from: "main" });
    const { structured } = await use("list_branches", { repository });
    const [{ sha }] = structured.items;
    expect(structured.items).toHaveLength(2);
    expect(structured.items).toContainEqual({ name: "main", sha });
    expect(structured.items).toContainEqual({ name: "made", sha });
  });

  it("have people", async () => {
    const { structured } = await use("search_users", { query: user.name });
    expect(structured.items).toMatchObject([{ login: user.name }]);
  });
});

describe("files", () => {
  it("are read by lines, as far as an answer goes", async () => {
    const lines = Array.from({ length: 3000 }, (_, at) => `line ${at + 1}`);
    await commit("Add long files", [
      { path: "long.txt", content: `${lines.join("\n")}\n` },
      { path: "wide.txt", content: "x".repeat(100_000) },
      { path: "image.png", content: btoa("\u0089PNG\u0000"), encoding: "base64" },
    ]);
    const first = await use("read_file", { repository, path: "long.txt" });
    expect(first.structured).toMatchObject({ from: 1, to: 1000, lines: 3000 });
    expect(first.text).toContain("For more, call again with from 1001.");
    const rest = await use("read_file", { repository, path: "long.txt", from: 2999 });
    expect(rest.text).toMatch(/\nline 2999\nline 3000\n/);
    expect(rest.text).not.toContain("For more");
    const part = await use("read_file", { repository, path: "long.txt", from: 5, to: 6 });
    expect(part.text).toMatch(/: file\]\nline 5\nline 6\n\n\[end/);
    const wide = await use("read_file", { repository, path: "wide.txt" });
    expect(wide.text.length).toBeLessThan(41_000);
    expect(wide.text).toContain("Cut after 40000 of 100001 characters.");
    const image = await use("read_file", { repository, path: "image.png" });
    expect(image.text).toContain("is no text");
  });

  it("are listed and found", async () => {
    await commit("Add a directory", [{ path: "src/lib/deep.ts", content: "export {};\n" }]);
    const root = await use("list_files", { repository });
    expect(root.structured.items).toContainEqual({ path: "src", type: "dir" });
    const found = await use("list_files", { repository, query: "deep" });
    expect(found.structured.items[0]).toEqual({ path: "src/lib/deep.ts" });
    const code = await use("search_code", { repository, query: "EXPORT {}" });
    expect(code.structured.items).toEqual([{ path: "src/lib/deep.ts", lines: [1] }]);
    const blamed = await use("blame_file", { repository, path: "src/lib/deep.ts" });
    expect(blamed.text).toContain("Add a directory");
  });

  it("are changed all or none", async () => {
    const before = await use("list_commits", { repository });
    const refused = await client.tool("commit_files", {
      repository,
      message: "Half",
      files: [{ path: "new.txt", content: "x" }, { path: "missing.txt" }],
    });
    expect(refused.isError).toBe(true);
    const after = await use("list_commits", { repository });
    expect(after.structured.items).toEqual(before.structured.items);
  });
});

describe("commits", () => {
  it("are shown with their diff, in parts", async () => {
    const content = Array.from({ length: 4000 }, (_, at) => `row number ${at}`).join("\n");
    const { structured } = await commit("Add many rows", [{ path: "rows.txt", content }]);
    const first = await use("get_commit", { repository, sha: structured.sha });
    expect(first.text).toContain("Add many rows");
    expect(first.text).toContain("+row number 0\n");
    const { cursor } = first.structured;
    const second = await use("get_commit", { repository, sha: structured.sha, cursor });
    expect(second.text).not.toContain("Add many rows");
    expect(second.text).toContain("+row number 3999");
    expect(second.structured.cursor).toBeUndefined();
    const rowsOf = (text: string) => text.match(/^\+row number \d+$/gm) ?? [];
    expect([...rowsOf(first.text), ...rowsOf(second.text)]).toHaveLength(4000);
  });

  it("are listed by pages and paths, and compared", async () => {
    for (let n = 0; n < 22; n++) {
      await commit(`Change ${n}`, [{ path: "often.txt", content: String(n) }]);
    }
    const often = await use("list_commits", { repository, path: "often.txt" });
    expect(often.structured).toMatchObject({ total: 22 });
    const first = await use("list_commits", { repository });
    expect(first.structured.cursor).toBe("2");
    const second = await use("list_commits", { repository, cursor: "2" });
    expect(first.structured.items).toHaveLength(20);
    expect(first.structured.items).not.toContainEqual(second.structured.items[0]);
    expect(second.structured.cursor).toBeUndefined();
    const compared = await use("compare", { repository, base: "made", head: "main" });
    expect(compared.text).toContain("added often.txt +1 -0");
  });
});

describe("issues", () => {
  it("are opened, changed, labeled, commented, found and read", async () => {
    await makeLabel({ repo }, { name: "bug" });
    await makeMilestone(repo, { title: "v1" });
    const { structured } = await use("create_issue", {
      repository,
      title: "A fault",
      body: "It fails",
      labels: ["bug"],
      assignees: [user.name],
      milestone: "v1",
    });
    const { number } = structured;
    await use("add_comment", { repository, number, body: "Since when?" });
    const read = await use("get_issue", { repository, number });
    expect(read.text).toContain("labels bug");
    expect(read.text).toContain("It fails");
    expect(read.text).toContain("Since when?");
    const labels = await use("list_labels", { repository });
    expect(labels.text).toContain("v1");
    const mine = await use("search_issues", { repository, labels: ["bug"], mine: "assigned" });
    expect(mine.structured.items).toMatchObject([{ number, state: "open" }]);
    await use("update_issue", { repository, number, state: "closed", labels: [], milestone: "" });
    const { body } = await call("GET", `/repos/${repository}/issues/${number}`, { as: user });
    expect(body).toMatchObject({ state: "closed", labels: [], milestone: null });
    const all = await use("search_issues", { mine: "created", state: "closed", kind: "issues" });
    expect(all.structured.items).toMatchObject([{ repository, number }]);
    const unknown = await client.tool("create_issue", { repository, title: "x", labels: ["no"] });
    expect(unknown.isError).toBe(true);
  });
});

describe("pull requests", () => {
  it("are opened, reviewed and merged", async () => {
    await commit("Change the README", [{ path: "README.md", content: "# Tools\n" }], {
      branch: "main",
      new_branch: "topic",
    });
    const opened = await use("create_pull_request", {
      repository,
      head: "topic",
      base: "main",
      title: "Better words",
      body: "Why not",
    });
    const { number } = opened.structured;
    const diff = await use("get_pull_request_diff", { repository, number });
    expect(diff.text).toContain("+# Tools");
    const author = await client.tool("review_pull_request", {
      repository,
      number,
      event: "approve",
    });
    expect(author.isError).toBe(true);
    const reviewer = await make.user();
    await make.collaborator(repo, reviewer, 2);
    const other = new McpClient(reviewer.token);
    const reviewed = await other.tool("review_pull_request", {
      repository,
      number,
      event: "request_changes",
      body: "One thing",
      comments: [{ path: "README.md", line: 1, body: "All caps?" }],
    });
    expect(reviewed).toMatchObject({ isError: false, structured: { state: "REQUEST_CHANGES" } });
    await use("review_pull_request", { repository, number, event: "comment", body: "No" });
    const read = await use("get_pull_request", { repository, number });
    expect(read.text).toContain("REQUEST_CHANGES");
    expect(read.text).toContain("README.md:1");
    const behind = await client.tool("merge_pull_request", {
      repository,
      number,
      head: "0".repeat(40),
    });
    expect(behind.isError).toBe(true);
    const merged = await use("merge_pull_request", { repository, number, style: "squash" });
    expect(merged.structured).toMatchObject({ number, merged: true });
  });
});

describe("releases and packages", () => {
  it("are listed, and releases are made", async () => {
    await use("create_release", { repository, tag: "v1.0", title: "First", notes: "All of it" });
    const { text, structured } = await use("list_releases", { repository });
    expect(structured.items).toHaveLength(1);
    expect(text).toContain("v1.0 First");
    expect(text).toContain("All of it");
    const path = `/api/packages/${user.name}/generic/tool/1.0/file.txt`;
    await visit("PUT", path, { as: user, body: "content" });
    const packages = await use("list_packages", { owner: user.name });
    expect(packages.text).toContain("generic tool 1.0");
  });
});

describe("workflows", () => {
  it("have runs, jobs and logs", async () => {
    const run = await makeRun(repo, { state: "failure" });
    const job = await makeJob(run, repo, { state: "failure" });
    const rows = Array.from({ length: 2000 }, (_, at) => `row ${at} of the log`);
    await makeTask(job, rows, { state: "failure" });
    const runs = await use("list_workflow_runs", { repository });
    expect(runs.structured.items).toContainEqual(
      expect.objectContaining({ id: run.id, state: "failure" }),
    );
    const jobs = await use("get_workflow_run", { repository, run: run.id });
    expect(jobs.structured.items).toMatchObject([{ id: job.id, state: "failure" }]);
    let [text, cursor] = ["", undefined as string | undefined];
    do {
      const part = await use("get_job_log", { repository, job: job.id, cursor });
      const log = /: log\]\n([^]*)\n\[end of data/.exec(part.text)?.[1] ?? "";
      text = log + text;
      cursor = part.structured.cursor;
    } while (cursor !== undefined);
    expect(text.match(/row \d+ of the log/g)).toEqual(rows);
    await use("rerun_workflow", { repository, run: run.id });
  });
});

describe("notifications", () => {
  it("are listed and read", async () => {
    await makeNotification(user, await makeIssue(repo, { title: "For you" }));
    const { text, structured } = await use("list_notifications");
    expect(text).toContain("For you");
    for (const { id } of structured.items) await use("mark_notification_read", { id });
    expect((await use("list_notifications")).structured.items).toEqual([]);
  });
});

it("is each tool that there is", () => {
  expect(TOOLS.map(({ name }) => name).filter((name) => !called.has(name))).toEqual([]);
});
