import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

import { beforeAll, describe, expect, it } from "vitest";

import { admin, type Caller, callApi, makeToken, makeUser, serviceUrl } from "../support/forge.ts";
import { makeDirectory } from "../support/git.ts";
import { readCommands } from "../support/read-commands.ts";
import { hasProgram, runProgram, tryProgram } from "../support/run-program.ts";

const NUGET = resolve("node_modules/.cache/npm-clients/node_modules/nuget-exe/nuget-5.8.0.exe");

/** A user of packages: an empty folder with NuGet's client, and the configuration of one source. */
class Workspace {
  readonly path = makeDirectory();
  readonly source: string;
  private readonly token: string;

  constructor(owner: string, token: string, credentials?: Caller) {
    this.token = token;
    this.source = `${serviceUrl}/api/packages/${owner}/nuget/index.json`;
    const bin = join(this.path, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "nuget"), `#!/bin/sh\nexec mono "${NUGET}" "$@"\n`);
    chmodSync(join(bin, "nuget"), 0o755);
    this.configure(this.source, credentials);
  }

  /** Makes another URL the source. */
  configure(source: string, credentials?: Caller): void {
    const signedIn =
      credentials &&
      `<packageSourceCredentials><forge><add key="Username" value="${credentials.name}"/>` +
        `<add key="ClearTextPassword" value="${credentials.password}"/></forge>` +
        `</packageSourceCredentials>`;
    writeFileSync(
      join(this.path, "NuGet.Config"),
      `<configuration><packageSources><clear/><add key="forge" value="${source}"/></packageSources>` +
        `${signedIn ?? ""}</configuration>`,
    );
  }

  get options() {
    const path = [join(this.path, "bin"), process.env["PATH"]].join(delimiter);
    return { directory: this.path, env: { PATH: path, HOME: this.path } };
  }

  /** Packs a package and returns its file. */
  async pack(id: string, version: string, more = "", ...args: string[]): Promise<string> {
    const folder = makeDirectory();
    writeFileSync(join(folder, "a.txt"), `${id} ${version}`);
    writeFileSync(
      join(folder, "a.nuspec"),
      `<package><metadata><id>${id}</id><version>${version}</version><authors>A U Thor</authors>` +
        `<description>For a test: größer &amp; more</description>${more}</metadata>` +
        `<files><file src="*.txt" target="content"/><file src="*.pdb" target="lib/net45"/></files>` +
        `</package>`,
    );
    const output = await runProgram("nuget", ["pack", "a.nuspec", ...args], {
      ...this.options,
      directory: folder,
    });
    const [, file = ""] = /Successfully created package '([^']*)'/.exec(output) ?? [];
    return file;
  }

  nuget = (...args: string[]) =>
    tryProgram("nuget", [...args, "-ConfigFile", "NuGet.Config", "-NonInteractive"], this.options);

  push = (file: string, token = this.token) =>
    this.nuget("push", file, "-Source", "forge", "-ApiKey", token);

  install = (id: string, ...args: string[]) =>
    this.nuget("install", id, "-Source", "forge", "-OutputDirectory", "out", "-NoCache", ...args);

  has = (path: string): boolean => existsSync(join(this.path, "out", path));
}

describe.skipIf(!hasProgram("mono") || !existsSync(NUGET))("NuGet's client", () => {
  let owner: Caller;
  let token: string;

  beforeAll(async () => {
    owner = await makeUser();
    token = await makeToken(owner, "write:package");
  });

  const open = (): Workspace => new Workspace(owner.name, token);

  it("runs the commands of the document", async () => {
    const writer = await makeUser();
    const secret = await makeToken(writer, "write:package");
    const { options } = new Workspace(writer.name, secret);
    const env = { ...options.env, FORGE: serviceUrl, OWNER: writer.name, TOKEN: secret };
    const commands = readCommands("docs/packages/nuget.md");
    const output = await runProgram("sh", ["-ec", commands], { ...options, env });
    expect(output).toContain("Your package was pushed");
    expect(output).toMatch(/^Hello$/m);
    expect(output).toMatch(/^Hello\.Forge 1\.0\.0$/m);
    expect(output).toContain("was deleted successfully");
  }, 120_000);

  it("publishes versions, and installs them with what they depend on", async () => {
    const space = open();
    const needs = '<dependencies><dependency id="Test.Base" version="[1.0,2.0)"/></dependencies>';
    for (const file of [
      await space.pack("Test.Base", "1.2.0"),
      await space.pack("Test.Base", "2.0.0"),
      await space.pack("Test.Top", "0.1.0", needs),
      await space.pack("Test.Top", "0.2.0-beta.1", needs),
    ]) {
      const pushed = await space.push(file);
      expect(pushed, pushed.output).toMatchObject({ code: 0 });
    }
    const installed = await space.install("test.top");
    expect(installed, installed.output).toMatchObject({ code: 0 });
    expect(space.has("Test.Top.0.1.0/content/a.txt")).toBe(true);
    expect(space.has("Test.Base.1.2.0/content/a.txt")).toBe(true);
    expect(await space.install("Test.Top", "-Prerelease")).toMatchObject({ code: 0 });
    expect(space.has("Test.Top.0.2.0-beta.1/content/a.txt")).toBe(true);
    const all = await space.nuget("list", "-Source", "forge", "-AllVersions", "-Prerelease");
    expect(all.stdout).toContain("Test.Top 0.2.0-beta.1");
    expect(all.stdout).toContain("Test.Base 1.2.0");
    const again = await space.push(await space.pack("test.base", "1.2"));
    expect(again).toMatchObject({ code: 1 });
    expect(again.output).toContain("409");
  }, 120_000);

  it("does the same by version 2 of the protocol", async () => {
    const space = open();
    space.configure(space.source.replace("/index.json", ""));
    expect(await space.push(await space.pack("Old.Way", "1.0.0"))).toMatchObject({ code: 0 });
    expect(await space.push(await space.pack("Old.Way", "1.1.0"))).toMatchObject({ code: 0 });
    const installed = await space.install("old.way");
    expect(installed, installed.output).toMatchObject({ code: 0 });
    expect(space.has("Old.Way.1.1.0/content/a.txt")).toBe(true);
    const listed = await space.nuget("list", "old", "-Source", "forge");
    expect(listed.stdout).toContain("Old.Way 1.1.0");
    expect(listed.stdout).not.toContain("Old.Way 1.0.0");
    const deleted = await space.nuget(
      "delete",
      "Old.Way",
      "1.1.0",
      "-Source",
      "forge",
      "-ApiKey",
      token,
    );
    expect(deleted, deleted.output).toMatchObject({ code: 0 });
    expect((await space.nuget("list", "old", "-Source", "forge")).stdout).toContain(
      "Old.Way 1.0.0",
    );
  }, 120_000);

  it("refuses wrong tokens", async () => {
    const space = open();
    const file = await space.pack("Test.Refused", "1.0.0");
    const other = await makeUser();
    const foreign = await makeToken(other, "write:package");
    expect((await space.push(file, "0".repeat(40))).code).toBe(1);
    expect((await space.push(file, foreign)).code).toBe(1);
    expect((await space.push(file, await makeToken(owner, "read:package"))).code).toBe(1);
    expect((await space.install("Test.Refused")).code).toBe(1);
  }, 120_000);

  it("installs the packages of a private owner with credentials only", async () => {
    const hidden = await makeUser();
    const key = await makeToken(hidden, "write:package");
    const space = new Workspace(hidden.name, key);
    expect(await space.push(await space.pack("Secret", "1.0.0"))).toMatchObject({ code: 0 });
    await callApi(admin, "PATCH", `/admin/users/${hidden.name}`, {
      source_id: 0,
      login_name: hidden.name,
      visibility: "private",
    });
    expect((await space.install("Secret")).code).toBe(1);
    space.configure(space.source, { name: hidden.name, password: key });
    const installed = await space.install("Secret");
    expect(installed, installed.output).toMatchObject({ code: 0 });
    expect(space.has("Secret.1.0.0/content/a.txt")).toBe(true);
  }, 120_000);
});
