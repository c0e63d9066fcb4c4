import { execFile, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { run } from "../../scripts/tools/run.ts";
import { type Checkout, makeCheckout } from "./support/checkout.ts";
import { makeDirectory } from "./support/temporary.ts";

let checkout: Checkout;

beforeAll(() => {
  checkout = makeCheckout();
});
afterAll(() => checkout.remove());

const inCheckout = (path: string): string => join(checkout.path, path);

/** Runs `npx wrangler dev` until the end of the test. @returns Once it is ready. */
async function startDev(args: string[] = [], directory = ".") {
  // A process group, which Ctrl-C in a terminal ends.
  const child = spawn("npx", ["wrangler", "dev", "--port", "0", ...args], {
    cwd: inCheckout(directory),
    env: {
      PATH: process.env["PATH"],
      HOME: makeDirectory(),
      NO_COLOR: "1",
      // Works without a network, and sooner.
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const closed = once(child, "close");
  let hasClosed = false;
  void closed.then(() => (hasClosed = true));
  const stop = async (): Promise<void> => {
    if (!hasClosed && child.pid !== undefined) process.kill(-child.pid, "SIGINT");
    await closed;
  };
  onTestFinished(stop);

  let output = "";
  const ready = /Ready on (\S+)/;
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        if (ready.test(output)) resolve();
      });
    }
    void closed.then(() => reject(new Error(`wrangler dev ended:\n${output}`)));
  });
  return { url: ready.exec(output)?.[1] ?? "", output, stop };
}

/** The first administrator, as wrangler's build step prints it. */
function administratorIn(output: string) {
  const [, name = "", password = ""] = /administrator is (\S+), password (\S+)/.exec(output) ?? [];
  return { name, password };
}

/** Sends a request as an account. */
async function send(
  url: string,
  { name, password }: { name: string; password: string },
  path: string,
  json?: object,
) {
  const credentials = Buffer.from(`${name}:${password}`).toString("base64");
  const response = await fetch(`${url}/api/v1${path}`, {
    method: json ? "POST" : "GET",
    headers: { Authorization: `Basic ${credentials}`, "Content-Type": "application/json" },
    ...(json && { body: JSON.stringify(json) }),
  });
  return { status: response.status, body: (await response.json()) as unknown };
}

/** A receiver of one webhook on this machine. */
async function startReceiver() {
  const server = createServer();
  const received = once(server, "request").then(async ([request, response]) => {
    const body = await buffer(request);
    response.end();
    return { headers: request.headers as Record<string, string>, body };
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received };
}

async function git(directory: string, ...args: string[]): Promise<void> {
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  const env = { PATH: process.env["PATH"], GIT_CONFIG_GLOBAL: "/dev/null" };
  await promisify(execFile)("git", [...identity, ...args], { cwd: directory, env });
}

describe("npx wrangler dev", () => {
  it("serves a clean checkout: the API, a push, and a signed webhook to this machine", async () => {
    const { url, output } = await startDev();
    const administrator = administratorIn(output);
    expect(await send(url, administrator, "/user")).toMatchObject({
      status: 200,
      body: { login: "root", is_admin: true },
    });

    const created = await send(url, administrator, "/user/repos", { name: "hello" });
    expect(created.status).toBe(201);
    const receiver = await startReceiver();
    const config = { url: receiver.url, content_type: "json", secret: "a shared secret" };
    const hook = { type: "gitea", active: true, events: ["push"], config };
    const hooked = await send(url, administrator, "/repos/root/hello/hooks", hook);
    expect(hooked.status).toBe(201);
    const work = makeDirectory({ "README.md": "Hello\n" });
    const remote = `${url.replace("://", `://root:${administrator.password}@`)}/root/hello.git`;
    await git(work, "init", "-q", "-b", "main");
    await git(work, "add", ".");
    await git(work, "commit", "-q", "-m", "Say hello");
    await git(work, "push", "-q", remote, "main");

    const { headers, body } = await receiver.received;
    expect(JSON.parse(body.toString())).toMatchObject({
      ref: "refs/heads/main",
      commits: [{ message: "Say hello\n" }],
    });
    const signature = createHmac("sha256", "a shared secret").update(body).digest("hex");
    expect(headers["x-gitea-signature"]).toBe(signature);
  });

  it("keeps state and settings at the next start, and applies new migrations", async () => {
    const first = await startDev();
    const settings = readFileSync(inCheckout(".env.local"), "utf8");
    await first.stop();
    const [, password = ""] = /^FIRST_ADMIN_PASSWORD="(.+)"$/m.exec(settings) ?? [];
    const migration = inCheckout("migrations/9999_more.sql");
    writeFileSync(migration, "CREATE TABLE more (id INTEGER);");
    onTestFinished(() => rmSync(migration));

    const { url, output } = await startDev();

    expect(output).toContain("applied migrations: 9999_more.sql\n");
    expect(output).not.toContain("administrator is");
    expect(readFileSync(inCheckout(".env.local"), "utf8")).toBe(settings);
    expect(statSync(inCheckout(".env.local")).mode & 0o077).toBe(0);
    const user = await send(url, { name: "root", password }, "/user");
    expect(user.status).toBe(200);
  });

  it("migrates the state that --persist-to names, also from another directory", async () => {
    const { url, output } = await startDev(["--persist-to", "my state"], "src");

    expect(output).toContain("applied migrations: ");
    expect(existsSync(inCheckout("src/my state/v3/d1"))).toBe(true);
    expect((await fetch(`${url}/api/v1/repos/search`)).status).toBe(200);
  });

  it("leaves .dev.vars as it is, and names what it lacks", async () => {
    const settings = "FIRST_ADMIN_PASSWORD=correct horse battery\nCLIENT_ADDRESS_HEADER=\n";
    rmSync(inCheckout(".env.local"), { force: true });
    writeFileSync(inCheckout(".dev.vars"), settings);
    onTestFinished(() => rmSync(inCheckout(".dev.vars")));

    const { url, output } = await startDev(["--persist-to", makeDirectory()]);

    expect(output).toContain(
      ".dev.vars sets no ALLOWED_HOST_LIST, FIRST_ADMIN_USER, SEALING_KEYS, OAUTH_SIGNING_KEYS\n",
    );
    expect(readFileSync(inCheckout(".dev.vars"), "utf8")).toBe(settings);
    expect(existsSync(inCheckout(".env.local"))).toBe(false);
    const administrator = { name: "root", password: "correct horse battery" };
    expect((await send(url, administrator, "/user")).status).toBe(200);
  });
});

describe("the build step under wrangler dev", () => {
  it("applies no part of a migration that fails, and all of it once it is corrected", async () => {
    const migration = inCheckout("migrations/9999_more.sql");
    onTestFinished(() => rmSync(migration));
    rmSync(inCheckout(".wrangler"), { recursive: true, force: true });
    const build = (sql: string) => {
      writeFileSync(migration, sql);
      const env = { WRANGLER_COMMAND: "dev" };
      return run("npm", ["run", "--silent", "build"], { cwd: checkout.path, env });
    };
    const table = "CREATE TABLE more (id INTEGER);";

    const failed = await build(`${table}\n--> statement-breakpoint\nINSERT INTO less VALUES (1);`);
    const corrected = await build(table);
    const repeated = await build(table);

    expect(failed.code).toBe(1);
    expect(failed.output).toMatch(/^migration 9999_more\.sql failed and was not applied: .*less/m);
    expect(corrected).toMatchObject({ code: 0 });
    expect(corrected.output).toContain("applied migrations: 9999_more.sql\n");
    expect(repeated).toEqual({ code: 0, output: "" });
  });
});

describe("the settings of wrangler dev", () => {
  // SECURITY: a deployed service with a developer's password or keys would be open to all who know
  // them.
  it("are part of neither a deployment nor of npm start", async () => {
    writeFileSync(inCheckout(".env.local"), 'SEALING_KEYS="local:secret"\nAPP_NAME=Mine\n');
    onTestFinished(() => rmSync(inCheckout(".env.local")));

    // Without the environment of the scripts, as a developer types it.
    const env = { CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV: undefined };
    const args = ["deploy", "--dry-run", "--outdir", makeDirectory()];
    const deployed = await run("wrangler", args, { cwd: checkout.path, env });
    const script = `import { readWranglerToml } from "./scripts/tools/wrangler-toml.ts";
      console.log(JSON.stringify(readWranglerToml().vars));`;
    const started = await run("node", ["--input-type=module", "-e", script], {
      cwd: checkout.path,
      env,
    });

    expect(deployed.output).toContain("env.REPOSITORY");
    expect(deployed.output).not.toMatch(/SEALING_KEYS|APP_NAME/);
    expect(started).toEqual({ code: 0, output: "{}\n" });
  });
});
