import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";

import { beforeAll, describe, expect, it } from "vitest";

import { admin, callApi, makeRepo, makeToken, type Repo, serviceUrl } from "../support/forge.ts";
import { makeDirectory } from "../support/git.ts";
import { tryProgram } from "../support/run-program.ts";

/** Where `.ci/install-clients` puts clients of the protocol. */
const PACKAGES = resolve("node_modules/.cache/npm-mcp/node_modules/@modelcontextprotocol");
const SERVER = `${serviceUrl}/mcp`;
const isInstalled = (name: string): boolean => existsSync(join(PACKAGES, name));
const hasPython = spawnSync("python3", ["-c", "import mcp, httpx2"]).status === 0;
if (!isInstalled("conformance") || !hasPython) {
  console.log("no clients of the Model Context Protocol: some of their tests are skipped");
}

let token: string;
let repo: Repo;
let repository: string;

beforeAll(async () => {
  repo = await makeRepo(admin, { auto_init: true, default_branch: "main" });
  repository = `${repo.owner}/${repo.name}`;
  token = await makeToken(admin, "all");
});

async function run(program: string, ...args: string[]) {
  const directory = makeDirectory();
  const { code, output, stdout } = await tryProgram(program, args, { directory });
  expect(code, output).toBe(0);
  return stdout;
}

describe.each(["client", "sdk"])("the official SDK, package %s", (generation) => {
  it.skipIf(!isInstalled(generation))(
    "lists, calls, reads and is told why it is refused",
    async () => {
      const script = resolve("test/clients/agents/sdk-client.mjs");
      const printed = await run(
        process.execPath,
        script,
        PACKAGES,
        generation,
        SERVER,
        token,
        repository,
      );
      const { opened, read, refused, ...found } = JSON.parse(printed);
      expect(found).toMatchObject({
        server: "edgeforge",
        instructions: expect.stringContaining(`You act as ${admin.name}`),
        tools: expect.arrayContaining(["create_issue", "commit_files", "get_job_log"]),
        resourceTemplates: 2,
        file: expect.stringContaining(`# ${repo.name}`),
        prompt: expect.stringContaining(`${repository}#1`),
      });
      const { number, url } = opened.structuredContent;
      expect(url).toBe(`${serviceUrl}/${repository}/issues/${number}`);
      expect(read.content[0].text).toContain("Opened by an agent");
      expect(refused).toMatchObject({ isError: true });
      const issue = await callApi(admin, "GET", `${repo.path}/issues/${number}`);
      expect(issue).toMatchObject({ title: "Opened by an agent", body: "Text" });
    },
  );
});

describe.skipIf(!hasPython)("the official SDK in Python", () => {
  it.each(["auto", "legacy"])("lists and calls tools, in mode %s", async (mode) => {
    const script = resolve("test/clients/agents/sdk_client.py");
    const { tools, read } = JSON.parse(
      await run("python3", script, SERVER, token, repository, mode),
    );
    expect(tools).toContain("create_issue");
    expect(read).toContain("Opened in Python");
  });
});

describe.skipIf(!isInstalled("inspector"))("the Inspector's command line", () => {
  const inspect = (args: string) =>
    run(
      process.execPath,
      join(PACKAGES, "../.bin/mcp-inspector"),
      "--cli",
      SERVER,
      "--transport",
      "http",
      "--header",
      `Authorization: Bearer ${token}`,
      ...args.split(" "),
    );

  it("lists tools and calls one, as the document has it", async () => {
    const { tools } = JSON.parse(await inspect("--method tools/list"));
    expect(tools.map((tool: { name: string }) => tool.name)).toContain("read_file");
    const answer = JSON.parse(
      await inspect(
        `--method tools/call --tool-name read_file --tool-arg repository=${repository} path=README.md`,
      ),
    );
    expect(answer.content[0].text).toContain(`# ${repo.name}`);
  });
});

/** Scenarios about what this server has; others ask for tools of a server that is made for them. */
const SCENARIOS = [
  "server-initialize",
  "ping",
  "tools-list",
  "resources-list",
  "prompts-list",
  "dns-rebinding-protection",
];

/** Passes requests on with a token, since the suite knows none. */
async function openProxy(): Promise<{ url: string; close(): void }> {
  const { hostname, port } = new URL(serviceUrl);
  const proxy = createServer((incoming, answer) => {
    const host = incoming.headers.host?.replace(/:\d+$/, `:${port}`);
    const headers = { ...incoming.headers, host, authorization: `Bearer ${token}` };
    const { method, url } = incoming;
    const passed = request({ hostname, port, method, path: url, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    incoming.pipe(passed);
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  const { port: own } = proxy.address() as AddressInfo;
  return { url: `http://127.0.0.1:${own}/mcp`, close: () => void proxy.close() };
}

describe.skipIf(!isInstalled("conformance"))("the conformance suite", () => {
  it.each(SCENARIOS)("passes %s", async (scenario) => {
    const proxy = await openProxy();
    const suite = join(PACKAGES, "conformance/dist/index.js");
    const args = `server --url ${proxy.url} --scenario ${scenario}`.split(" ");
    const printed = await run(process.execPath, suite, ...args);
    proxy.close();
    expect(printed).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed, 0 warnings/);
  });
});
