import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { beforeAll, describe, expect, it } from "vitest";

import {
  admin,
  type Caller,
  callApi,
  freshName,
  makeToken,
  makeUser,
  serviceUrl,
} from "../support/forge.ts";
import { makeDirectory } from "../support/git.ts";
import { hasProgram, runProgram, tryProgram } from "../support/run-program.ts";
import { runDocument } from "./document.ts";

const hasComposer = hasProgram("composer");
if (!hasComposer) console.log("no Composer: its tests are skipped");

const { host } = new URL(serviceUrl);

/** Settings of Composer's own are read from its home, so each test has one. */
const envOf = (directory: string) => ({
  COMPOSER_HOME: join(directory, ".composer"),
  COMPOSER_ALLOW_SUPERUSER: "1",
  COMPOSER_NO_INTERACTION: "1",
});

const composer = (directory: string, ...args: string[]) =>
  tryProgram("composer", ["--no-ansi", ...args], { directory, env: envOf(directory) });

const urlOf = ({ name }: Pick<Caller, "name">) => `${serviceUrl}/api/packages/${name}/composer`;

/** An empty project that requires from the repository of an owner alone. */
function makeProject(owner: Pick<Caller, "name">, credential?: Caller): string {
  const directory = makeDirectory();
  const basic = credential && {
    "http-basic": { [host]: { username: credential.name, password: credential.password } },
  };
  const manifest = {
    name: "acme/project",
    require: {},
    repositories: [{ type: "composer", url: urlOf(owner) }, { "packagist.org": false }],
    config: { "secure-http": false, ...basic },
  };
  writeFileSync(join(directory, "composer.json"), JSON.stringify(manifest));
  return directory;
}

async function publish(
  owner: Pick<Caller, "name">,
  credential: Caller | undefined,
  name: string,
  version: string,
): Promise<number> {
  const directory = makeDirectory();
  const source = join(directory, "source");
  mkdirSync(source);
  const manifest = { name, autoload: { files: ["version.php"] } };
  writeFileSync(join(source, "composer.json"), JSON.stringify(manifest));
  writeFileSync(join(source, "version.php"), `<?php const THE_VERSION = "${version}";`);
  const archive = ["archive", "--working-dir=source", "--format=zip", "--dir=..", "--file=source"];
  const env = envOf(directory);
  await runProgram("composer", ["--quiet", ...archive], { directory, env });
  const { name: user = "", password = "" } = credential ?? {};
  const { status } = await fetch(`${urlOf(owner)}/?version=${version}`, {
    method: "PUT",
    body: readFileSync(join(directory, "source.zip")),
    headers: credential ? { Authorization: `Basic ${btoa(`${user}:${password}`)}` } : {},
  });
  return status;
}

const versionIn = (directory: string, name: string) =>
  /"(.*)"/.exec(readFileSync(join(directory, "vendor", name, "version.php"), "utf8"))?.[1];

describe.skipIf(!hasComposer)("Composer", { timeout: 120_000 }, () => {
  let owner: Caller;
  let credential: Caller;

  beforeAll(async () => {
    owner = await makeUser();
    credential = { name: owner.name, password: await makeToken(owner, "write:package") };
  });

  it("publishes, installs, searches and deletes as the document says", async () => {
    const directory = makeDirectory();
    const mismatches = await runDocument("docs/packages/composer.md", directory, {
      ...envOf(directory),
      FORGE: serviceUrl,
      OWNER: owner.name,
      TOKEN: credential.password,
      PACKAGE: `acme/${freshName("greeting")}`,
    });
    expect(mismatches).toEqual([]);
  });

  it("updates to the next version, and takes development versions only if asked to", async () => {
    const name = `acme/${freshName("lib")}`;
    expect(await publish(owner, credential, name, "1.0.0")).toBe(201);
    // A reader without any credential.
    const project = makeProject(owner);
    expect(await composer(project, "require", name)).toMatchObject({ code: 0 });
    expect(versionIn(project, name)).toBe("1.0.0");
    expect(await publish(owner, credential, name, "v1.1.0")).toBe(201);
    expect(await publish(owner, credential, name, "1.1")).toBe(409);
    expect(await publish(owner, credential, name, "2.0.0-beta1")).toBe(201);
    expect(await publish(owner, credential, name, "dev-main")).toBe(201);
    expect(await composer(project, "update", "--no-cache")).toMatchObject({ code: 0 });
    expect(versionIn(project, name)).toBe("v1.1.0");
    const dev = await composer(project, "require", "--no-cache", `${name}:dev-main`);
    expect([dev.code, versionIn(project, name)]).toEqual([0, "dev-main"]);
    const shown = await composer(project, "show", "--no-cache", "--all", name);
    expect(shown.output).toMatch(/versions : 2\.0\.0-beta1, v1\.1\.0, 1\.0\.0, \* dev-main/);
  });

  it("does not find a version that was deleted", async () => {
    const name = `acme/${freshName("lib")}`;
    expect(await publish(owner, credential, name, "1.0.0")).toBe(201);
    const response = await fetch(`${urlOf(owner)}/packages/${encodeURIComponent(name)}/1.0.0`, {
      method: "DELETE",
      headers: { Authorization: `Basic ${btoa(`${credential.name}:${credential.password}`)}` },
    });
    expect(response.status).toBe(204);
    const answer = await composer(makeProject(owner), "require", `${name}:1.0.0`);
    expect([answer.code === 0, answer.output]).toEqual([
      false,
      expect.stringContaining("could not be found"),
    ]);
  });

  it("reads a private owner's package by a token, and not without or with a wrong one", async () => {
    const secret = await makeUser();
    await callApi(admin, "PATCH", `/admin/users/${secret.name}`, {
      login_name: secret.name,
      source_id: 0,
      visibility: "private",
    });
    const name = `acme/${freshName("secret")}`;
    const write = { name: secret.name, password: await makeToken(secret, "write:package") };
    const read = { name: secret.name, password: await makeToken(secret, "read:package") };
    const wrong = { name: secret.name, password: "0".repeat(40) };
    for (const refused of [undefined, wrong, read]) {
      expect(await publish(secret, refused, name, "1.0.0")).toBe(401);
    }
    expect(await publish(secret, write, name, "1.0.0")).toBe(201);
    for (const refused of [undefined, wrong]) {
      const project = makeProject(secret, refused);
      const { code, output } = await composer(project, "require", name);
      expect([code === 0, output]).toEqual([false, expect.stringMatching(/401|credentials/)]);
      expect(existsSync(join(project, "vendor"))).toBe(false);
    }
    const project = makeProject(secret, read);
    expect(await composer(project, "require", name)).toMatchObject({ code: 0 });
    expect(versionIn(project, name)).toBe("1.0.0");
  });
});
