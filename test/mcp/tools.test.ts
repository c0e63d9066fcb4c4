import { describe, expect, it } from "vitest";

import { make } from "../support/make.ts";
import { McpClient, REVISIONS } from "../support/mcp.ts";

describe.each(REVISIONS)("tools, by revision %s", (revision) => {
  it("are listed, described and marked, within 12 KB", async () => {
    const user = await make.user();
    const { result, status } = await new McpClient(user.token, revision).request("tools/list");
    expect(status).toBe(200);
    const { tools } = result;
    expect(tools.length).toBeGreaterThanOrEqual(25);
    expect(tools.length).toBeLessThanOrEqual(35);
    expect(JSON.stringify(result).length).toBeLessThan(12 * 1024);
    for (const tool of tools) {
      expect(tool.inputSchema.type, tool.name).toBe("object");
      const isRead = /^(?:get|list|read|search|find|blame|compare)/.test(tool.name);
      expect(tool.annotations, tool.name).toEqual(
        isRead ? { readOnlyHint: true } : { destructiveHint: /^(?:delete|merge)/.test(tool.name) },
      );
    }
  });

  it("take a change from a new repository to a merged pull request", async () => {
    const user = await make.user();
    const client = new McpClient(user.token, revision);
    const name = `p${revision.slice(0, 4)}`;
    const repository = `${user.name}/${name}`;
    const made = await client.tool("create_repository", { name, readme: true });
    expect(made).toMatchObject({ isError: false, structured: { repository } });
    const committed = await client.tool("commit_files", {
      repository,
      new_branch: "topic",
      message: "Add a greeting",
      files: [{ path: "src/greeting.txt", content: "hello\nworld\n" }, { path: "README.md" }],
    });
    expect(committed.isError, committed.text).toBe(false);
    const read = await client.tool("read_file", {
      repository,
      path: "src/greeting.txt",
      ref: "topic",
      from: 2,
    });
    expect(read.text).toMatch(
      /^src\/greeting\.txt, lines 2 to 2 of 2\.\n\[data \w+: file\]\nworld\n/,
    );
    const found = await client.tool("search_code", { repository, query: "HELLO", ref: "topic" });
    expect(found.structured.items).toEqual([{ path: "src/greeting.txt", lines: [1] }]);
    const blamed = await client.tool("blame_file", {
      repository,
      path: "src/greeting.txt",
      ref: "topic",
    });
    expect(blamed.structured.items).toEqual([{ from: 1, to: 2, sha: committed.structured.sha }]);
    const files = await client.tool("list_files", { repository, query: "greet", ref: "topic" });
    expect(files.structured.items).toEqual([{ path: "src/greeting.txt" }]);
    const compared = await client.tool("compare", { repository, base: "main", head: "topic" });
    expect(compared.text).toContain("added src/greeting.txt +2 -0");
    const opened = await client.tool("create_pull_request", {
      repository,
      head: "topic",
      base: "main",
      title: "Greet",
    });
    expect(opened.isError, opened.text).toBe(false);
    const { number } = opened.structured;
    const diff = await client.tool("get_pull_request_diff", { repository, number });
    expect(diff.text).toContain("+hello");
    const reviewed = await client.tool("review_pull_request", {
      repository,
      number,
      event: "comment",
      body: "One thing",
      comments: [{ path: "src/greeting.txt", line: 1, body: "Why lower case?" }],
    });
    expect(reviewed.isError, reviewed.text).toBe(false);
    const pull = await client.tool("get_pull_request", { repository, number });
    expect(pull.text).toContain("src/greeting.txt:1");
    expect(pull.text).toContain("Why lower case?");
    const merged = await client.tool("merge_pull_request", { repository, number });
    expect(merged).toMatchObject({ isError: false, structured: { number, merged: true } });
    const log = await client.tool("list_commits", { repository });
    expect(log.text).toContain("Add a greeting");
  });
});
