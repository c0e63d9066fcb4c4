import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { beforeAll, describe, expect, it } from "vitest";

import { admin, type Caller, callApi, makeToken, makeUser, serviceUrl } from "../support/forge.ts";
import { makeDirectory } from "../support/git.ts";
import { hasProgram, runProgram, tryProgram } from "../support/run-program.ts";
import { runDocument } from "./document.ts";

const hasApt = ["apt-get", "dpkg-deb", "gpgv"].every(hasProgram);
if (!hasApt) console.log("no apt: its tests are skipped");

const urlOf = ({ name }: Pick<Caller, "name">) => `${serviceUrl}/api/packages/${name}/debian`;

const authorization = ({ name, password }: Caller) => ({
  Authorization: `Basic ${btoa(`${name}:${password}`)}`,
});

/** Builds a package that holds its version. */
async function build(
  name: string,
  version: string,
  { architecture = "all", packing = "xz" } = {},
): Promise<Buffer<ArrayBuffer>> {
  const directory = makeDirectory();
  const root = join(directory, "root");
  mkdirSync(join(root, "DEBIAN"), { recursive: true });
  mkdirSync(join(root, "usr/share", name), { recursive: true });
  writeFileSync(join(root, "usr/share", name, "version"), version);
  writeFileSync(
    join(root, "DEBIAN/control"),
    `Package: ${name}\nVersion: ${version}\nArchitecture: ${architecture}\nMaintainer: A <a@example.com>\nDescription: a package\n of a test\n`,
  );
  const args = ["--root-owner-group", `-Z${packing}`, "--build", "root", "package.deb"];
  await runProgram("dpkg-deb", args, { directory });
  return readFileSync(join(directory, "package.deb"));
}

async function publish(
  owner: Pick<Caller, "name">,
  credential: Caller | undefined,
  body: Buffer<ArrayBuffer>,
  place = "stable/main",
): Promise<number> {
  const headers = credential ? authorization(credential) : {};
  const url = `${urlOf(owner)}/pool/${place}/upload`;
  return (await fetch(url, { method: "PUT", headers, body })).status;
}

/** A root of apt's own, with the distribution of an owner as its only source. */
async function makeApt(owner: Pick<Caller, "name">, key: string, credential?: Caller) {
  const directory = makeDirectory();
  for (const each of ["etc/auth.conf.d", "state/lists/partial", "cache/archives/partial"]) {
    mkdirSync(join(directory, each), { recursive: true });
  }
  writeFileSync(join(directory, "status"), "");
  writeFileSync(join(directory, "key.asc"), key);
  writeFileSync(
    join(directory, "etc/sources.list"),
    `deb [arch=amd64 signed-by=${join(directory, "key.asc")}] ${urlOf(owner)} stable main\n`,
  );
  if (credential) {
    const { name, password } = credential;
    writeFileSync(
      join(directory, "etc/auth.conf.d/forge.conf"),
      `machine ${serviceUrl} login ${name} password ${password}\n`,
    );
  }
  const settings = {
    "Dir::Etc": join(directory, "etc"),
    "Dir::State": join(directory, "state"),
    "Dir::State::status": join(directory, "status"),
    "Dir::Cache": join(directory, "cache"),
    "APT::Architecture": "amd64",
    "APT::Sandbox::User": "root",
    "Debug::NoLocking": "1",
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  const run = (...args: string[]) => tryProgram("apt-get", [...options, ...args], { directory });
  return {
    directory,
    update: () => run("update", "--error-on=any"),
    download: (name: string) => run("download", name),
  };
}

/** The version in the one package that was downloaded. */
async function versionIn(directory: string, name: string): Promise<string> {
  const files = readdirSync(directory).filter((each) => each.endsWith(".deb"));
  expect(files).toHaveLength(1);
  await runProgram("dpkg-deb", ["--extract", files[0] ?? "", "out"], { directory });
  return readFileSync(join(directory, "out/usr/share", name, "version"), "utf8");
}

const keyOf = async (owner: Pick<Caller, "name">, credential?: Caller): Promise<string> =>
  (
    await fetch(`${urlOf(owner)}/repository.key`, {
      headers: credential ? authorization(credential) : {},
    })
  ).text();

describe.skipIf(!hasApt)("apt", { timeout: 120_000 }, () => {
  let owner: Caller;
  let credential: Caller;

  beforeAll(async () => {
    owner = await makeUser();
    credential = { name: owner.name, password: await makeToken(owner, "write:package") };
  });

  it("publishes, installs and deletes as the document says", async () => {
    const mismatches = await runDocument("docs/packages/debian.md", makeDirectory(), {
      FORGE: serviceUrl,
      OWNER: owner.name,
      TOKEN: credential.password,
    });
    expect(mismatches).toEqual([]);
  });

  it("finds the newest version in a signed distribution, and not one that was deleted", async () => {
    const user = await makeUser();
    const token = { name: user.name, password: await makeToken(user, "write:package") };
    expect(await publish(user, token, await build("tool", "1.0"))).toBe(201);
    expect(await publish(user, token, await build("tool", "1.0"))).toBe(409);
    // A reader without any credential.
    const key = await keyOf(user);
    const first = await makeApt(user, key);
    const updated = await first.update();
    expect([updated.code, updated.output]).toEqual([0, expect.not.stringMatching(/^[WE]:/m)]);
    expect(await first.download("tool")).toMatchObject({ code: 0 });
    expect(await versionIn(first.directory, "tool")).toBe("1.0");

    const next = await build("tool", "1:1.0~rc1", { architecture: "amd64", packing: "zstd" });
    expect(await publish(user, token, next)).toBe(201);
    const older = await build("tool", "2.0", { packing: "gzip" });
    expect(await publish(user, token, older)).toBe(201);
    const second = await makeApt(user, key);
    const again = await second.update();
    expect([again.code, again.output]).toEqual([0, expect.not.stringMatching(/^[WE]:/m)]);
    expect(await second.download("tool")).toMatchObject({ code: 0 });
    expect(await versionIn(second.directory, "tool")).toBe("1:1.0~rc1");

    const path = `${urlOf(user)}/pool/stable/main/tool/1:1.0~rc1/amd64`;
    const headers = authorization(token);
    expect((await fetch(path, { method: "DELETE", headers })).status).toBe(204);
    // A client that has read the distribution before takes the newer Release file.
    expect(await first.update()).toMatchObject({ code: 0 });
    const third = await makeApt(user, key);
    expect(await third.update()).toMatchObject({ code: 0 });
    expect(await third.download("tool")).toMatchObject({ code: 0 });
    expect(await versionIn(third.directory, "tool")).toBe("2.0");
  });

  // apt knows what it has by its date alone.
  it("downloads a distribution again only after a change, also one within a second", async () => {
    const user = await makeUser();
    const token = { name: user.name, password: await makeToken(user, "write:package") };
    expect(await publish(user, token, await build("tool", "1.0"))).toBe(201);
    const apt = await makeApt(user, await keyOf(user));
    const fetched = async () => {
      const { code, output } = await apt.update();
      expect(code, output).toBe(0);
      return output.match(/^(?:Get|Hit)/gm);
    };
    expect(await fetched()).toEqual(["Get", "Get"]);
    expect(await fetched()).toEqual(["Hit"]);
    const debs = [await build("tool", "1.1"), await build("tool", "1.2")];
    for (const deb of debs) {
      expect(await publish(user, token, deb)).toBe(201);
      expect(await fetched()).toEqual(["Get", "Get"]);
      expect(await fetched()).toEqual(["Hit"]);
    }
  });

  it("does not take a distribution that another key has signed", async () => {
    const [user, stranger] = [await makeUser(), await makeUser()];
    const token = { name: user.name, password: await makeToken(user, "write:package") };
    expect(await publish(user, token, await build("tool", "1.0"))).toBe(201);
    const apt = await makeApt(user, await keyOf(stranger));
    const { code, output } = await apt.update();
    expect([code === 0, output]).toEqual([false, expect.stringContaining("NO_PUBKEY")]);
  });

  it("is verified by gpgv, with its signature inside and beside it", async () => {
    const user = await makeUser();
    const token = { name: user.name, password: await makeToken(user, "write:package") };
    expect(await publish(user, token, await build("tool", "1.0"))).toBe(201);
    const directory = makeDirectory();
    for (const [name, path] of [
      ["key.asc", "repository.key"],
      ["Release", "dists/stable/Release"],
      ["Release.gpg", "dists/stable/Release.gpg"],
      ["InRelease", "dists/stable/InRelease"],
    ] as const) {
      writeFileSync(join(directory, name), await (await fetch(`${urlOf(user)}/${path}`)).text());
    }
    await runProgram("gpg", ["--batch", "--dearmor", "--output", "key.gpg", "key.asc"], {
      directory,
    });
    for (const files of [["InRelease"], ["Release.gpg", "Release"]]) {
      const args = ["--keyring", join(directory, "key.gpg"), ...files];
      const { code, output } = await tryProgram("gpgv", args, { directory });
      expect([code, output]).toEqual([0, expect.stringContaining("Good signature")]);
    }
  });

  it("reads a private owner's packages by a token, and not without or with a wrong one", async () => {
    const secret = await makeUser();
    await callApi(admin, "PATCH", `/admin/users/${secret.name}`, {
      login_name: secret.name,
      source_id: 0,
      visibility: "private",
    });
    const write = { name: secret.name, password: await makeToken(secret, "write:package") };
    const read = { name: secret.name, password: await makeToken(secret, "read:package") };
    const wrong = { name: secret.name, password: "0".repeat(40) };
    const deb = await build("secret", "1.0");
    for (const refused of [undefined, wrong, read]) {
      expect(await publish(secret, refused, deb)).toBe(401);
    }
    expect(await publish(secret, write, deb)).toBe(201);
    const key = await keyOf(secret, read);
    for (const refused of [undefined, wrong]) {
      const { code, output } = await (await makeApt(secret, key, refused)).update();
      expect([code === 0, output]).toEqual([false, expect.stringContaining("401")]);
    }
    const apt = await makeApt(secret, key, read);
    expect(await apt.update()).toMatchObject({ code: 0 });
    expect(await apt.download("secret")).toMatchObject({ code: 0 });
    expect(await versionIn(apt.directory, "secret")).toBe("1.0");
  });
});
