import { beforeAll, describe, expect, it } from "vitest";

import { countWork } from "../support/count-work.ts";
import { make, type TestUser } from "../support/make.ts";
import { McpClient } from "../support/mcp.ts";

let owner: TestUser;
let client: McpClient;
let repository: string;

beforeAll(async () => {
  owner = await make.user();
  client = new McpClient(owner.token);
  repository = `${owner.name}/counted`;
  await client.tool("create_repository", { name: "counted", readme: true });
  await client.tool("create_issue", { repository, title: "One" });
});

/** Calls of D1 of the second call: the door's, those of each operation, and the audit log's. */
const READS: [name: string, args: object, d1Calls: number][] = [
  ["search_repositories", {}, 3],
  ["get_repository", {}, 3],
  ["list_branches", {}, 3],
  ["read_file", { path: "README.md" }, 3],
  ["list_files", {}, 3],
  ["list_files", { query: "read" }, 2],
  ["search_code", { query: "counted" }, 2],
  ["list_commits", {}, 3],
  ["search_issues", {}, 3],
  ["get_issue", { number: 1 }, 5],
  ["list_notifications", {}, 3],
];

const argsOf = (name: string, args: object): Record<string, unknown> =>
  name === "search_repositories" || name === "list_notifications"
    ? { ...args }
    : { repository, ...args };

describe("a tool that reads", () => {
  it.each(READS)(
    "costs what its operations cost and one call more: %s %j",
    async (name, args, most) => {
      await client.tool(name, argsOf(name, args));
      const { result, work } = await countWork(() => client.tool(name, argsOf(name, args)));
      expect(result.isError, result.text).toBe(false);
      expect(work.d1Calls).toBeLessThanOrEqual(most);
      expect(work.sqlBuilds).toBe(0);
    },
  );
});

describe("a tool that writes", () => {
  it("costs what its operation costs and two calls more", async () => {
    await client.tool("add_comment", { repository, number: 1, body: "One" });
    const { result, work } = await countWork(() =>
      client.tool("add_comment", { repository, number: 1, body: "Two" }),
    );
    expect(result.isError).toBe(false);
    expect(work.d1Calls).toBeLessThanOrEqual(6);
    expect(work.sqlBuilds).toBe(0);
  });

  it("costs one call where it is refused", async () => {
    const { result, work } = await countWork(() => client.tool("add_comment", { repository }));
    expect(result.isError).toBe(true);
    expect(work.d1Calls).toBe(1);
  });
});
