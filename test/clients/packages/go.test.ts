import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";

import { beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { admin, type Caller, callApi, makeToken, makeUser, serviceUrl } from "../support/forge.ts";
import { makeZip } from "../../support/archives.ts";
import { makeDirectory } from "../support/git.ts";
import { readCommands } from "../support/read-commands.ts";
import { hasProgram, runProgram, tryProgram } from "../support/run-program.ts";

const hasClients = ["go", "git", "openssl", "zip"].every(hasProgram);
if (!hasClients) console.log("no go: the tests of modules are skipped");

/** Where the go command keeps what it compiled, so that the standard library is compiled once. */
const cache = process.env["GOCACHE"] ?? join(homedir(), ".cache/go-build");
// The programs keep what they read; only what is written to the folder can be deleted with it.
const SETTINGS = {
  GOFLAGS: "-modcacherw",
  GOCACHE: cache,
  GOTOOLCHAIN: "local",
  GONOSUMDB: "*",
  GIT_CONFIG_NOSYSTEM: "1",
};

/**
 * Serves the service over HTTPS as well, until the test ends. Returns the address and the file of
 * its certificate.
 */
async function serveTls(): Promise<{ address: string; cert: string }> {
  const directory = makeDirectory();
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  const files = ["-keyout", "key.pem", "-out", "cert.pem"];
  const args = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...files, ...subject];
  await runProgram("openssl", args, { directory });
  const cert = join(directory, "cert.pem");
  const server = createServer(
    { key: readFileSync(join(directory, "key.pem")), cert: readFileSync(cert) },
    ({ method, headers, url = "" }, answer) => {
      const options = { method, headers };
      const passed = request(new URL(url, serviceUrl), options, (found) => {
        answer.writeHead(found.statusCode ?? 500, found.headers);
        found.pipe(answer);
      });
      passed.end();
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { address: `localhost:${port}`, cert };
}

describe.skipIf(!hasClients)("go", { timeout: 240_000 }, () => {
  let owner: Caller;
  let token: string;
  const registryOf = ({ name }: Caller): string => `${serviceUrl}/api/packages/${name}/go`;

  beforeAll(async () => {
    owner = await makeUser();
    token = await makeToken(owner, "write:package");
  });

  /** Uploads a module whose function returns its version. */
  async function upload(
    path: string,
    version: string,
    { registry = registryOf(owner), key = token } = {},
  ): Promise<number> {
    const name = path.split("/").find((part) => part.startsWith("lib")) ?? "lib";
    const code = `package ${name}\n\nfunc Version() string { return "${version}" }\n`;
    const body = makeZip([
      { path: `${path}@${version}/go.mod`, content: `module ${path}\n\ngo 1.20\n` },
      { path: `${path}@${version}/a.go`, content: code },
    ]);
    const response = await fetch(`${registry}/upload`, {
      method: "PUT",
      body,
      headers: { Authorization: `Bearer ${key}` },
    });
    await response.text();
    return response.status;
  }

  /** A program that prints the version of a module, in a home without any modules. */
  function makeApp(path: string, name: string) {
    const directory = makeDirectory();
    writeFileSync(join(directory, "go.mod"), "module example.com/app\n\ngo 1.20\n");
    const main = `package main\n\nimport (\n\t"fmt"\n\n\t"${path}"\n)\n\nfunc main() { fmt.Println(${name}.Version()) }\n`;
    writeFileSync(join(directory, "main.go"), main);
    return (env: Record<string, string>, ...args: string[]) =>
      tryProgram("go", args, { directory, env: { ...SETTINGS, ...env } });
  }

  it("runs the commands of the document", async () => {
    const directory = makeDirectory();
    const writer = await makeUser();
    const secret = await makeToken(writer, "write:package");
    const env = { ...SETTINGS, FORGE: serviceUrl, OWNER: writer.name, TOKEN: secret };
    const commands = readCommands("docs/packages/go.md");
    const output = await runProgram("sh", ["-ec", commands], { directory, env });
    expect(output).toContain("Hello from a module");
    expect(output).toContain("example.com/greet v1.0.0");
  });

  it("gets versions, updates to them, and verifies what it downloads", async () => {
    const path = "example.com/Mixed-Case/libone";
    const proxy = { GOPROXY: registryOf(owner) };
    expect(await upload(path, "v1.0.0")).toBe(201);
    const go = makeApp(path, "libone");
    const got = await go(proxy, "get", `${path}@latest`);
    expect(got, got.output).toMatchObject({ code: 0 });
    expect((await go(proxy, "run", ".")).stdout).toBe("v1.0.0\n");
    expect(await upload(path, "v1.1.0")).toBe(201);
    expect(await upload(path, "v1.2.0-beta")).toBe(201);
    expect(await upload(path, "v1.1.0")).toBe(409);
    await go(proxy, "get", "-u", path);
    expect((await go(proxy, "run", ".")).stdout).toBe("v1.1.0\n");
    const listed = await go(proxy, "list", "-m", "-versions", path);
    expect(listed.stdout).toBe(`${path} v1.0.0 v1.1.0 v1.2.0-beta\n`);
    const verified = await go(proxy, "mod", "verify");
    expect(verified, verified.output).toMatchObject({ code: 0 });
    const missing = await go(proxy, "get", `${path}@v1.9.0`);
    expect(missing.code).not.toBe(0);
    expect(missing.output).toContain("404");
  });

  it("gets later major versions, and commits without a tag", async () => {
    const proxy = { GOPROXY: registryOf(owner) };
    const path = "example.com/libtwo/v2";
    expect(await upload(path, "v2.0.0")).toBe(201);
    const go = makeApp(path, "libtwo");
    const got = await go(proxy, "get", path);
    expect(got, got.output).toMatchObject({ code: 0 });
    expect((await go(proxy, "run", ".")).stdout).toBe("v2.0.0\n");
    const pseudo = "v0.0.0-20240102030405-abcdef123456";
    expect(await upload("example.com/libthree", pseudo)).toBe(201);
    const other = makeApp("example.com/libthree", "libthree");
    const found = await other(proxy, "get", "example.com/libthree@latest");
    expect(found, found.output).toMatchObject({ code: 0 });
    expect((await other(proxy, "run", ".")).stdout).toBe(`${pseudo}\n`);
  });

  // The go command sends credentials over HTTPS only.
  it("reaches a private owner with a token, and nobody else does", async () => {
    const { address, cert } = await serveTls();
    const secret = await makeUser();
    await callApi(admin, "PATCH", `/admin/users/${secret.name}`, { visibility: "private" });
    const key = await makeToken(secret, "write:package");
    const path = "example.com/libsecret";
    const registry = registryOf(secret);
    expect(await upload(path, "v1.0.0", { registry, key: "wrong" })).toBe(401);
    expect(await upload(path, "v1.0.0", { registry })).toBe(404);
    expect(await upload(path, "v1.0.0", { registry, key })).toBe(201);
    const proxyAs = (credentials: string) => ({
      GOPROXY: `https://${credentials}${address}/api/packages/${secret.name}/go`,
      SSL_CERT_FILE: cert,
    });
    for (const [credentials, status] of [
      ["", "401"],
      ["a:wrong@", "401"],
      [`a:${token}@`, "404"],
    ] as const) {
      const refused = await makeApp(path, "libsecret")(proxyAs(credentials), "get", path);
      expect(refused.code).not.toBe(0);
      expect(refused.output).toContain(status);
    }
    const go = makeApp(path, "libsecret");
    const got = await go(proxyAs(`${secret.name}:${key}@`), "get", path);
    expect(got, got.output).toMatchObject({ code: 0 });
    expect((await go({ GOPROXY: "off" }, "run", ".")).stdout).toBe("v1.0.0\n");
  });
});
