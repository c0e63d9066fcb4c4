import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { beforeAll, describe, expect, it } from "vitest";

import { admin, type Caller, callApi, makeToken, makeUser, serviceUrl } from "../support/forge.ts";
import { makeDirectory } from "../support/git.ts";
import { readCommands } from "../support/read-commands.ts";
import { hasProgram, runProgram, tryProgram } from "../support/run-program.ts";

/** The first version of cargo that sends tokens to a sparse index. */
const MINOR_MIN = 74;

/** Whether cargo is there in a version that reads registries with tokens. */
function hasCargo(): boolean {
  if (!hasProgram("cargo")) return false;
  const [, minor = "0"] =
    /^cargo 1\.(\d+)/.exec(execFileSync("cargo", ["--version"]).toString()) ?? [];
  return Number(minor) >= MINOR_MIN;
}

const isThere = hasCargo();
if (!isThere) console.log("no cargo of version 1.74: the tests of crates are skipped");

// Where rustup keeps the compiler, if cargo comes from there.
const rustup = process.env["RUSTUP_HOME"] ?? join(homedir(), ".rustup");
const toolchain: Record<string, string> = existsSync(rustup) ? { RUSTUP_HOME: rustup } : {};

/** A user of cargo, whose home names the registry of an owner. */
class Home {
  readonly path = makeDirectory();
  private readonly token: string;

  constructor(owner: string, token: string) {
    this.token = token;
    mkdirSync(join(this.path, ".cargo"));
    const lines = [
      "[registry]",
      'global-credential-providers = ["cargo:token"]',
      "[registries.forge]",
      `index = "sparse+${serviceUrl}/api/packages/${owner}/cargo/"`,
    ];
    writeFileSync(join(this.path, ".cargo/config.toml"), `${lines.join("\n")}\n`);
  }

  run(directory: string, ...args: string[]) {
    const token = this.token === "" ? {} : { CARGO_REGISTRIES_FORGE_TOKEN: this.token };
    const env = { HOME: this.path, ...toolchain, ...token, CARGO_TERM_COLOR: "never" };
    return tryProgram("cargo", args, { directory, env });
  }

  /** Publishes a library with a function of its name, which returns its version. */
  async publish(name: string, version: string, more = "") {
    const folder = makeDirectory();
    mkdirSync(join(folder, "src"));
    const body = `pub fn version() -> &'static str { "${version}" }\n`;
    writeFileSync(join(folder, "src/lib.rs"), body);
    const manifest = `[package]\nname = "${name}"\nversion = "${version}"\nedition = "2021"\n${more}\n`;
    writeFileSync(join(folder, "Cargo.toml"), manifest);
    return this.run(folder, "publish", "--registry", "forge", "--allow-dirty");
  }

  /** Makes a program that depends on a crate. */
  makeApp(name: string, requirement: string, features: readonly string[] = []): string {
    const folder = makeDirectory();
    mkdirSync(join(folder, "src"));
    const module = name.replaceAll("-", "_");
    writeFileSync(
      join(folder, "src/main.rs"),
      `fn main() { println!("{}", ${module}::version()) }\n`,
    );
    const manifest = `[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n`;
    const dependency = `${name} = { version = "${requirement}", registry = "forge", features = ${JSON.stringify(features)} }\n`;
    writeFileSync(join(folder, "Cargo.toml"), manifest + dependency);
    return folder;
  }
}

describe.skipIf(!isThere)("cargo", { timeout: 240_000 }, () => {
  let owner: Caller;
  let token: string;

  beforeAll(async () => {
    owner = await makeUser();
    token = await makeToken(owner, "write:package");
  });

  it("runs the commands of the document", async () => {
    const directory = makeDirectory();
    const writer = await makeUser();
    const secret = await makeToken(writer, "write:package");
    const env = { FORGE: serviceUrl, OWNER: writer.name, TOKEN: secret, ...toolchain };
    const commands = `exec 2>&1\n${readCommands("docs/packages/cargo.md")}`;
    const output = await runProgram("sh", ["-ec", commands], { directory, env });
    expect(output).toContain("Hello from a crate");
    expect(output).toMatch(/hello = "0\.1\.0"/);
    expect(output).toContain(writer.name);
  });

  it("publishes versions, updates to them, and skips yanked ones", async () => {
    const home = new Home(owner.name, `Bearer ${token}`);
    const published = await home.publish("moving-crate", "1.0.0");
    expect(published, published.output).toMatchObject({ code: 0 });
    const app = home.makeApp("moving-crate", "1");
    expect((await home.run(app, "run", "--quiet")).stdout).toBe("1.0.0\n");
    await home.publish("moving-crate", "1.1.0", 'rust-version = "1.60"\n[features]\na = []');
    const updated = await home.run(app, "update");
    expect(updated, updated.output).toMatchObject({ code: 0 });
    expect((await home.run(app, "run", "--quiet")).stdout).toBe("1.1.0\n");
    const yanked = await home.run(app, "yank", "--registry", "forge", "moving-crate@1.1.0");
    expect(yanked, yanked.output).toMatchObject({ code: 0 });
    // What is locked goes on working, and nobody else gets it.
    expect((await home.run(app, "run", "--quiet")).stdout).toBe("1.1.0\n");
    const other = home.makeApp("moving-crate", "1");
    expect((await home.run(other, "run", "--quiet")).stdout).toBe("1.0.0\n");
    const again = await home.publish("moving-crate", "1.1.0");
    expect(again.code).not.toBe(0);
    expect(again.output).toMatch(/exists/);
  });

  it("builds crates that depend on others, with the features of new and old cargo", async () => {
    const home = new Home(owner.name, token);
    await home.publish("base_crate", "0.1.0", "[features]\nloud = []");
    const dependency = `[dependencies]\nbase_crate = { version = "0.1", registry = "forge", optional = true }\n`;
    const top = await home.publish(
      "top-crate",
      "0.1.0",
      `${dependency}[features]\nall = ["dep:base_crate", "base_crate?/loud"]`,
    );
    expect(top, top.output).toMatchObject({ code: 0 });
    const app = home.makeApp("top-crate", "0.1", ["all"]);
    const shown = await home.run(app, "tree");
    expect(shown, shown.output).toMatchObject({ code: 0 });
    expect(shown.stdout).toMatch(/top-crate v0\.1\.0[^]*base_crate v0\.1\.0/);
  });

  it("reaches a private owner with a token, and nobody else does", async () => {
    const secret = await makeUser();
    await callApi(admin, "PATCH", `/admin/users/${secret.name}`, { visibility: "private" });
    const key = await makeToken(secret, "write:package");
    const home = new Home(secret.name, key);
    for (const wrong of ["wrong", token]) {
      const refused = await new Home(secret.name, wrong).publish("secret-crate", "1.0.0");
      expect(refused.code).not.toBe(0);
    }
    const published = await home.publish("secret-crate", "1.0.0");
    expect(published, published.output).toMatchObject({ code: 0 });
    const app = home.makeApp("secret-crate", "1");
    for (const wrong of ["", "wrong", token]) {
      expect((await new Home(secret.name, wrong).run(app, "fetch")).code).not.toBe(0);
    }
    expect((await home.run(app, "run", "--quiet")).stdout).toBe("1.0.0\n");
  });
});
