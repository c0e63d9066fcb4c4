import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { beforeAll, describe, expect, it } from "vitest";

import {
  admin,
  type Caller,
  callApi,
  makeToken,
  makeUser,
  serviceUrl,
  urlAs,
} from "../support/forge.ts";
import { makeDirectory } from "../support/git.ts";
import { readCommands } from "../support/read-commands.ts";
import { hasProgram, runProgram, tryProgram } from "../support/run-program.ts";

const hasClients = ["python3", "uv", "twine"].every(hasProgram);
if (!hasClients) console.log("no uv or twine: the tests of Python packages are skipped");

describe.skipIf(!hasClients)("pip, uv and twine", { timeout: 240_000 }, () => {
  let owner: Caller;
  let token: string;
  const registryOf = ({ name }: Caller): string => `${serviceUrl}/api/packages/${name}/pypi`;

  beforeAll(async () => {
    owner = await makeUser();
    token = await makeToken(owner, "write:package");
  });

  /** Builds a project in a new folder, and returns the folder. */
  async function build(name: string, version: string, more = ""): Promise<string> {
    const folder = makeDirectory();
    const module = name.toLowerCase().replaceAll(/[-.]/g, "_");
    mkdirSync(join(folder, `src/${module}`), { recursive: true });
    writeFileSync(join(folder, `src/${module}/__init__.py`), `version = "${version}"\n`);
    const project = `[project]\nname = "${name}"\nversion = "${version}"\n${more}\n`;
    const backend = `[build-system]\nrequires = ["uv_build<1"]\nbuild-backend = "uv_build"\n`;
    writeFileSync(join(folder, "pyproject.toml"), project + backend);
    const env = { UV_CACHE_DIR: makeDirectory() };
    await runProgram("uv", ["build", "--offline"], { directory: folder, env });
    return folder;
  }

  const uploadTo = (registry: string, folder: string, secret = token) =>
    tryProgram(
      "sh",
      [
        "-c",
        'twine upload --non-interactive --repository-url "$0/" -u __token__ -p "$1" dist/*',
        registry,
        secret,
      ],
      { directory: folder },
    );

  /** Installs by pip into a new folder. */
  async function install(index: string, ...args: string[]) {
    const directory = makeDirectory();
    const outcome = await tryProgram(
      "python3",
      [
        "-m",
        "pip",
        "install",
        "--no-cache-dir",
        "--disable-pip-version-check",
        "--no-input",
        "--target",
        "lib",
        "--index-url",
        index,
        ...args,
      ],
      { directory },
    );
    return { ...outcome, directory };
  }

  const versionIn = (directory: string, module: string): Promise<string> =>
    runProgram("python3", ["-c", `import ${module}; print(${module}.version)`], {
      directory,
      env: { PYTHONPATH: "lib" },
    });

  it("run the commands of the document", async () => {
    const directory = makeDirectory();
    const writer = await makeUser();
    const secret = await makeToken(writer, "write:package");
    const env = { FORGE: serviceUrl, OWNER: writer.name, TOKEN: secret, UV_OFFLINE: "0" };
    const commands = readCommands("docs/packages/pypi.md");
    const output = await runProgram("sh", ["-ec", commands], { directory, env });
    expect(output).toContain("Hello from hello! by pip");
    expect(output).toMatch(/hello +0\.2\.0/);
    expect(output).toMatch(/Saved .*hello-0\.1\.0/);
  });

  it("publish versions, and install them with what they depend on", async () => {
    const registry = registryOf(owner);
    const base = await build("Base.Lib", "1.0");
    expect(await uploadTo(registry, base)).toMatchObject({ code: 0 });
    const dependencies = 'dependencies = ["base-lib>=1"]\nrequires-python = ">=3.8"';
    expect(await uploadTo(registry, await build("top-lib", "0.1", dependencies))).toMatchObject({
      code: 0,
    });
    const first = await install(`${registry}/simple/`, "--only-binary", ":all:", "top-lib");
    expect(first, first.output).toMatchObject({ code: 0 });
    // The metadata are read before the wheel.
    expect(first.output).toContain(".whl.metadata");
    expect(await versionIn(first.directory, "base_lib")).toBe("1.0\n");

    expect(await uploadTo(registry, await build("top-lib", "0.2", dependencies))).toMatchObject({
      code: 0,
    });
    const second = await install(`${registry}/simple/`, "top-lib");
    expect(await versionIn(second.directory, "top_lib")).toBe("0.2\n");

    const again = await uploadTo(registry, base);
    expect(again.code).not.toBe(0);
    expect(again.output).toContain("409");
  });

  it("skip a yanked version, unless it is asked for", async () => {
    const registry = registryOf(owner);
    for (const version of ["1.0", "1.1"])
      await uploadTo(registry, await build("moving-lib", version));
    const yank = await fetch(`${registry}/moving-lib/1.1/yank`, {
      method: "PUT",
      body: "it moves",
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(yank.status).toBe(204);
    const first = await install(`${registry}/simple/`, "moving-lib");
    expect(await versionIn(first.directory, "moving_lib")).toBe("1.0\n");
    const second = await install(`${registry}/simple/`, "moving-lib==1.1");
    expect(await versionIn(second.directory, "moving_lib")).toBe("1.1\n");
    expect(second.output).toContain("it moves");
  });

  it("reach a private owner with a token, and nobody else does", async () => {
    const secret = await makeUser();
    await callApi(admin, "PATCH", `/admin/users/${secret.name}`, { visibility: "private" });
    const key = await makeToken(secret, "write:package");
    const registry = registryOf(secret);
    const folder = await build("secret-lib", "1.0");
    expect((await uploadTo(registry, folder, "wrong")).code).not.toBe(0);
    expect((await uploadTo(registry, folder, token)).code).not.toBe(0);
    expect(await uploadTo(registry, folder, key)).toMatchObject({ code: 0 });
    const index = `${registry}/simple/`;
    expect((await install(index, "secret-lib")).code).not.toBe(0);
    expect((await install(urlAs(index, "__token__", token), "secret-lib")).code).not.toBe(0);
    const found = await install(urlAs(index, "__token__", key), "secret-lib");
    expect(found, found.output).toMatchObject({ code: 0 });
  });
});
