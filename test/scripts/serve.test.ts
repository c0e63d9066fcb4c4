import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, request } from "node:http";
import { connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { type Checkout, makeCheckout } from "./support/checkout.ts";
import { refuseService, type Service, startService } from "./support/service.ts";
import { makeDirectory } from "./support/temporary.ts";

let checkout: Checkout;

beforeAll(() => {
  checkout = makeCheckout();
});
afterAll(() => checkout.remove());

/** Starts a service that is stopped at the end of the test, also if it fails. */
async function start(data: string, env: Record<string, string> = {}): Promise<Service> {
  const service = await startService(checkout, { EDGEFORGE_DATA: data, ...env });
  onTestFinished(async () => void (await service.stop()));
  return service;
}

function refuse(data: string, env: Record<string, string> = {}) {
  return refuseService(checkout, { EDGEFORGE_DATA: data, ...env });
}

function as(name: string, password: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}` };
}

function addMigration(name: string, sql: string): void {
  const path = join(checkout.path, "migrations", name);
  writeFileSync(path, sql);
  onTestFinished(() => rmSync(path));
}

const root = { EDGEFORGE_ADMIN_USER: "root", EDGEFORGE_ADMIN_PASSWORD: "correct horse battery" };

describe("the first start", () => {
  it("builds, migrates and serves a forge, and lets its first administrator authenticate", async () => {
    const data = makeDirectory();
    const service = await start(data);
    // Log lines may follow later.
    const started = service.output().trim().split("\n");

    const password = /administrator: root, password (\S+)/.exec(service.output())?.[1] ?? "";
    const version = await fetch(`${service.url}/api/v1/version`);
    const user = await fetch(`${service.url}/api/v1/user`, { headers: as("root", password) });

    expect(version.status).toBe(200);
    expect(user.status).toBe(200);
    expect(await user.json()).toMatchObject({ login: "root", is_admin: true });
    expect(started.at(-1)).toBe(`listening on ${service.url}`);
  });

  it("serves the interface description and its viewer", async () => {
    const { url } = await start(makeDirectory());

    const description = await fetch(`${url}/openapi.json`);
    const page = await fetch(`${url}/api/swagger`);
    const text = await page.text();
    const scripts = [...text.matchAll(/(?:src|href)="(\/-\/[^"]+)"/g)].map((match) => match[1]);
    const files = await Promise.all(scripts.map((path) => fetch(`${url}${path}`)));

    expect(await description.json()).toHaveProperty("openapi");
    expect(page.status).toBe(200);
    expect(files.map((file) => file.status)).toEqual([200, 200, 200]);
  });

  it("creates the administrator that the environment names, and does not print the password", async () => {
    const env = { EDGEFORGE_ADMIN_USER: "ada", EDGEFORGE_ADMIN_PASSWORD: "correct horse battery" };
    const service = await start(makeDirectory(), env);

    const headers = as("ada", "correct horse battery");
    const user = await fetch(`${service.url}/api/v1/user`, { headers });

    expect(await user.json()).toMatchObject({ login: "ada", is_admin: true });
    expect(service.output()).toContain("administrator: ada");
    expect(service.output()).not.toContain("correct horse");
  });
});

describe("the environment", () => {
  it("configures the service, and the start prints what differs from the defaults", async () => {
    const data = makeDirectory();
    const service = await start(data, {
      ...root,
      REQUIRE_SIGNIN_VIEW: "true",
      DEFAULT_PAGING_NUM: "7",
      APP_NAME: "Edgeforge",
    });

    const anonymous = await fetch(`${service.url}/api/v1/repos/search`);
    const settings = await fetch(`${service.url}/api/v1/settings/api`, {
      headers: as("root", root.EDGEFORGE_ADMIN_PASSWORD),
    });

    expect(anonymous.status).toBe(403);
    expect(await settings.json()).toMatchObject({ default_paging_num: 7 });
    const printed = service.output().split("\n");
    expect(printed.filter((line) => line.startsWith("setting: ")).toSorted()).toEqual([
      'setting: DEFAULT_PAGING_NUM="7"',
      "setting: EDGEFORGE_ADMIN_PASSWORD (a secret)",
      `setting: EDGEFORGE_DATA=${JSON.stringify(data)}`,
      'setting: EDGEFORGE_PORT="0"',
      'setting: REQUIRE_SIGNIN_VIEW="true"',
    ]);
  });
});

describe("a service without ROOT_URL", () => {
  // Payloads and commits outlive the request; its sender chooses the Host header.
  it("names its bound address to others, and the address of the request to its sender", async () => {
    const service = await start(makeDirectory(), root);
    const received = await startReceiver();
    const { port } = new URL(service.url);
    const send = (method: string, path: string, json: object) =>
      sendTo(port, "evil.example", method, `/api/v1${path}`, json);
    const config = { url: received.url, content_type: "json" };
    const hook = { type: "gitea", active: true, events: ["repository"], config };
    expect((await send("POST", "/user/hooks", hook)).status).toBe(201);

    const created = await send("POST", "/user/repos", { name: "named" });

    expect(created.body).toMatchObject({ html_url: "http://evil.example/root/named" });
    await expect.poll(() => received.bodies.length, { timeout: 20_000 }).toBe(1);
    expect(JSON.parse(received.bodies[0] ?? "")).toMatchObject({
      repository: { html_url: `${service.url}/root/named` },
    });
    expect(received.bodies[0]).not.toContain("evil.example");
  });

  it("delivers no webhook to itself", async () => {
    const service = await start(makeDirectory(), {
      ...root,
      ALLOWED_HOST_LIST: "external, private, loopback, 0.0.0.0/8, ::/128",
    });
    const { port } = new URL(service.url);
    const hosts = ["127.0.0.1", "localhost", "a.localhost", "0.0.0.0", "[::]", "[::1]"];
    for (const host of [...hosts, ...interfaceAddresses()]) {
      const config = { url: `http://${host}:${port}/`, content_type: "json" };
      const hook = { type: "gitea", events: ["push"], config };
      const answer = await sendTo(port, "evil.example", "POST", "/api/v1/user/hooks", hook);
      expect(answer, host).toMatchObject({
        status: 422,
        body: { message: "Invalid url: this is the service's own address" },
      });
    }
  });
});

/**
 * Sends a request as `root`, with a Host header of the sender's choice, which `fetch` does not
 * allow.
 */
function sendTo(port: string, host: string, method: string, path: string, json: object) {
  return new Promise<{ status: number | undefined; body: unknown }>((resolve, reject) => {
    const headers = {
      ...as("root", root.EDGEFORGE_ADMIN_PASSWORD),
      host,
      "content-type": "application/json",
    };
    const sent = request({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      answer.on("end", () => resolve({ status: answer.statusCode, body: JSON.parse(text) }));
    });
    sent.once("error", reject).end(JSON.stringify(json));
  });
}

/** A receiver of webhooks. */
async function startReceiver(): Promise<{ url: string; bodies: string[] }> {
  const bodies: string[] = [];
  const server = createHttpServer((incoming, response) => {
    let text = "";
    incoming.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    incoming.on("end", () => {
      bodies.push(text);
      response.end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { bodies, url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/` };
}

const interfaceAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ family }) => family === "IPv4")
    .map(({ address }) => address);

describe("a client that hangs up in the middle of a push", () => {
  // The runtime words the end of the body as it likes: test/hostile/hang-ups.test.ts only imitates
  // it.
  it("is an ordinary line of the log", async () => {
    const service = await start(makeDirectory(), root);
    const headers = as("root", root.EDGEFORGE_ADMIN_PASSWORD);
    const created = await fetch(`${service.url}/api/v1/user/repos`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ name: "cut" }),
    });
    expect(created.status).toBe(201);

    const command = `${"0".repeat(40)} ${"1".repeat(40)} refs/heads/main\0report-status`;
    const length = (command.length + 4).toString(16).padStart(4, "0");
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.end(
      [
        "POST /root/cut.git/git-receive-pack HTTP/1.1",
        `Host: ${hostname}:${port}`,
        `Authorization: ${headers.authorization}`,
        "Content-Type: application/x-git-receive-pack-request",
        "Content-Length: 1000000",
        "",
        `${length}${command}0000PACK`,
      ].join("\r\n"),
    );

    const isLogged = () => /git-receive-pack","status":499/.test(service.output());
    await expect.poll(isLogged, { timeout: 20_000 }).toBe(true);
    expect(service.output()).not.toContain("request:bug");
  });
});

describe("a stop", () => {
  it("exits with 0 and unlocks the data directory", async () => {
    const data = makeDirectory();
    const service = await start(data);

    expect(await service.stop("SIGTERM")).toBe(0);
    expect(existsSync(join(data, "lock"))).toBe(false);
  });
});

describe("a later start", () => {
  it("finds the data of the earlier one", async () => {
    const data = makeDirectory();
    const before = await start(data, root);
    const headers = {
      ...as("root", root.EDGEFORGE_ADMIN_PASSWORD),
      "content-type": "application/json",
    };
    const body = JSON.stringify({ name: "kept" });
    const created = await fetch(`${before.url}/api/v1/user/repos`, {
      method: "POST",
      headers,
      body,
    });
    expect(created.status).toBe(201);
    await before.stop();

    const after = await start(data, { ...root, EDGEFORGE_ADMIN_PASSWORD: "not used any more" });

    const found = await fetch(`${after.url}/api/v1/repos/root/kept`, { headers });
    expect(found.status).toBe(200);
    expect(after.output()).not.toMatch(/built|applied|created/);
  });

  it("applies only the new migrations of an upgrade", async () => {
    const data = makeDirectory();
    await (await start(data)).stop();
    addMigration("9000_upgrade.sql", "CREATE TABLE upgraded (id INTEGER);");

    const after = await start(data);

    expect(after.output()).toContain("applied migrations: 9000_upgrade.sql\n");
  });

  it("stops at a failing migration, rolls it back, and applies it once it is corrected", async () => {
    const data = makeDirectory();
    await (await start(data)).stop();
    const good = "CREATE TABLE halfway (id INTEGER);\n--> statement-breakpoint\n";
    addMigration("9001_broken.sql", `${good}INSERT INTO nowhere VALUES (1);`);

    const refusal = await refuse(data);
    expect(refusal.code).toBe(1);
    expect(refusal.output).toMatch(
      /^migration 9001_broken\.sql failed and was not applied: .*nowhere.*\n$/,
    );

    // If the first statement had been kept, this would fail because the table exists.
    writeFileSync(join(checkout.path, "migrations", "9001_broken.sql"), good);
    const after = await start(data);
    expect(after.output()).toContain("applied migrations: 9001_broken.sql\n");
  });
});

describe("a start that fails", () => {
  it("reports the process that uses the same data directory", async () => {
    const data = makeDirectory();
    const service = await start(data);

    const refusal = await refuse(data);

    expect(refusal).toEqual({
      code: 1,
      output: `Edgeforge is already running on ${data} (process ${service.pid})\n`,
    });
    expect((await fetch(`${service.url}/api/v1/version`)).status).toBe(200);
  });

  it("reports the process that uses the port", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" ? String(address?.port) : "";

    const refusal = await refuse(makeDirectory(), { EDGEFORGE_PORT: port });

    expect(refusal.code).toBe(1);
    expect(refusal.output).toMatch(
      new RegExp(`^port ${port} on 127\\.0\\.0\\.1 is taken by .*\n$`),
    );
    expect(refusal.output).toContain(`process ${process.pid}`);
  });

  it("reports the directory that it cannot write to", async () => {
    // A file in the way stops every user, the superuser of a container included.
    const data = join(makeDirectory({ file: "" }), "file", "data");

    const refusal = await refuse(data);

    expect(refusal.code).toBe(1);
    expect(refusal.output).toMatch(/^cannot write to the data directory .*ENOTDIR.*\n$/);
  });

  it("reports a setting of the environment that is wrong or unknown", async () => {
    const wrong = await refuse(makeDirectory(), { REQUIRE_SIGNIN_VIEW: "yes" });
    const unknown = await refuse(makeDirectory(), { EDGEFORGE_REQUIRE_SIGNIN_VIEW: "true" });

    expect(wrong).toEqual({
      code: 1,
      output: "invalid setting: wrong configuration: REQUIRE_SIGNIN_VIEW must be true or false\n",
    });
    expect(unknown).toEqual({
      code: 1,
      output:
        "EDGEFORGE_REQUIRE_SIGNIN_VIEW is no setting: the setting's name is REQUIRE_SIGNIN_VIEW\n",
    });
  });

  it("reports the invalid setting", async () => {
    const refusal = await refuse(makeDirectory(), { EDGEFORGE_PORT: "http" });

    expect(refusal).toEqual({
      code: 1,
      output: 'EDGEFORGE_PORT must be a whole number from 0 to 65535, not "http"\n',
    });
  });
});

describe("after kill -9", () => {
  // A supervisor starts the service again at once.
  it("ends the runtime too, and starts again", async () => {
    const data = makeDirectory();
    const killed = await start(data, root);
    const runtime = runtimeOf(data);
    onTestFinished(() => {
      if (isRunning(runtime)) process.kill(runtime, "SIGKILL");
    });
    expect(await killed.stop("SIGKILL")).toBe("SIGKILL");

    const after = await start(data);
    expect(isRunning(runtime)).toBe(false);
    const headers = as("root", root.EDGEFORGE_ADMIN_PASSWORD);
    expect((await fetch(`${after.url}/api/v1/user`, { headers })).status).toBe(200);
  });

  it("has everything that it acknowledged", async () => {
    const data = makeDirectory();
    const killed = await start(data, root);
    const headers = {
      ...as("root", root.EDGEFORGE_ADMIN_PASSWORD),
      "content-type": "application/json",
    };
    const acknowledged: string[] = [];
    const createUntilKilled = async (writer: number): Promise<void> => {
      for (let at = 0; ; at++) {
        const name = `kept-${writer}-${at}`;
        const body = JSON.stringify({ name });
        const url = `${killed.url}/api/v1/user/repos`;
        const answer = await fetch(url, { method: "POST", headers, body }).catch(() => undefined);
        if (answer?.status !== 201) return;
        acknowledged.push(name);
      }
    };
    const writers = [0, 1, 2, 3].map(createUntilKilled);
    await expect.poll(() => acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(20);

    const runtime = runtimeOf(data);
    process.kill(runtime, "SIGKILL");
    expect(await killed.stop("SIGKILL")).toBe("SIGKILL");
    await Promise.all(writers);
    await expect.poll(() => isRunning(runtime), { timeout: 10_000 }).toBe(false);
    const after = await start(data);

    const statuses = await Promise.all(
      acknowledged.map((name) => fetch(`${after.url}/api/v1/repos/root/${name}`, { headers })),
    );
    expect(statuses.map(({ status }) => status)).toEqual(acknowledged.map(() => 200));
  });
});

/** The runtime's process id, as the lock of the data directory states it. */
function runtimeOf(data: string): number {
  const { runtime } = JSON.parse(readFileSync(join(data, "lock"), "utf8"));
  return runtime.pid;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
