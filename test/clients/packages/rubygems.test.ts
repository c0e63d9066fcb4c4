import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

import { beforeAll, describe, expect, it } from "vitest";

import { admin, type Caller, callApi, makeToken, makeUser, serviceUrl } from "../support/forge.ts";
import { makeDirectory } from "../support/git.ts";
import { readCommands } from "../support/read-commands.ts";
import { hasProgram, runProgram, tryProgram } from "../support/run-program.ts";

/** A user of gems, whose home has the credentials of an owner. */
class Home {
  readonly path = makeDirectory();
  readonly owner: string;
  readonly registry: string;

  constructor(owner: string, key: string) {
    this.owner = owner;
    this.registry = `${serviceUrl}/api/packages/${owner}/rubygems`;
    mkdirSync(join(this.path, ".gem"));
    const text = `---\n${this.registry}: ${key}\n`;
    writeFileSync(join(this.path, ".gem/credentials"), text, { mode: 0o600 });
  }

  get options() {
    return { directory: this.path, env: this.env };
  }

  private get env() {
    const gems = join(this.path, "gems");
    return { HOME: this.path, GEM_HOME: gems, GEM_PATH: gems };
  }

  /** Builds a gem and returns the path of its file. */
  async build(name: string, version: string, more = ""): Promise<string> {
    const folder = makeDirectory();
    mkdirSync(join(folder, "lib"));
    writeFileSync(join(folder, `lib/${name}.rb`), `puts "${name} ${version}"\n`);
    const spec = `Gem::Specification.new do |gem|
      gem.name = "${name}"
      gem.version = "${version}"
      gem.summary = "Gem of a test, größer"
      gem.authors = ["A U Thor", "C O Mitter"]
      gem.files = ["lib/${name}.rb"]
      ${more}
    end\n`;
    writeFileSync(join(folder, "a.gemspec"), spec);
    const file = join(folder, "built.gem");
    await runProgram("gem", ["build", "--output", file, "a.gemspec"], {
      ...this.options,
      directory: folder,
    });
    return file;
  }

  push = (file: string) => tryProgram("gem", ["push", "--host", this.registry, file], this.options);

  install = (name: string, ...args: string[]) =>
    tryProgram("gem", ["install", "--clear-sources", "--no-document", ...args, name], this.options);

  ruby = (script: string, input = "") =>
    runProgram("ruby", ["-e", script], { ...this.options, input });
}

describe.skipIf(!hasProgram("gem") || !hasProgram("bundle"))("gem and Bundler", () => {
  let owner: Caller;
  let token: string;

  beforeAll(async () => {
    owner = await makeUser();
    token = await makeToken(owner, "write:package");
  });

  const openHome = (): Home => new Home(owner.name, `Bearer ${token}`);

  it("runs the commands of the document", async () => {
    const writer = await makeUser();
    const secret = await makeToken(writer, "write:package");
    const { path } = new Home(writer.name, "none");
    const env = { FORGE: serviceUrl, OWNER: writer.name, TOKEN: secret };
    const gems = { GEM_HOME: join(path, "gems"), GEM_PATH: join(path, "gems") };
    const output = await runProgram("sh", ["-ec", readCommands("docs/packages/rubygems.md")], {
      directory: path,
      env: { ...env, ...gems },
    });
    expect(output).toContain("Hello, gem");
    expect(output).toContain("Hello, bundler");
    expect(output).toMatch(/hello \(1\.0\.0\)/);
    expect(output).toMatch(/"name":"hello","version":"1\.0\.0"/);
    expect(output).toContain("Successfully deleted gem: hello (1.0.0)");
  });

  it("publishes versions, and installs them with what they depend on", async () => {
    const home = openHome();
    const base = await home.build("base", "1.2.0");
    expect(await home.push(base)).toMatchObject({ code: 0 });
    const more = 'gem.add_dependency "base", ">= 1", "< 2"\ngem.required_ruby_version = ">= 2.5"';
    expect(await home.push(await home.build("top", "0.1.0.beta1", more))).toMatchObject({
      code: 0,
    });
    expect(await home.push(await home.build("top", "0.1.0", more))).toMatchObject({ code: 0 });
    const source = ["--source", `${home.registry}/`];
    const installed = await home.install("top", ...source);
    expect(installed, installed.output).toMatchObject({ code: 0 });
    expect(await home.ruby('require "top"; require "base"')).toBe("top 0.1.0\nbase 1.2.0\n");
    const listed = await runProgram(
      "gem",
      ["list", "--remote", "--all", "--prerelease", "--clear-sources", ...source],
      home.options,
    );
    expect(listed).toContain("top (0.1.0, 0.1.0.beta1)");
    const again = await home.push(base);
    expect(again).toMatchObject({ code: 1 });
    expect(again.output).toContain("exists already");
  });

  /** What gem requests of the registry, as it prints it itself. */
  const requestsIn = (output: string): string[] =>
    [...output.matchAll(/^(HEAD|GET) \S+\/rubygems\/(\S*)\n(\d+)/gm)].map(([, ...words]) =>
      words.join(" "),
    );

  // Without it, gem reads the marshalled indexes, and one file more for each version.
  it("installs by the compact index", async () => {
    const home = openHome();
    for (const version of ["1.0", "1.1", "1.2"]) {
      expect(await home.push(await home.build("compact", version))).toMatchObject({ code: 0 });
    }
    const source = ["--source", `${home.registry}/`, "--verbose"];
    const installed = await home.install("compact", ...source);
    expect(installed, installed.output).toMatchObject({ code: 0 });
    expect(requestsIn(installed.output)).toEqual([
      "HEAD  200",
      "GET info/compact 200",
      "GET quick/Marshal.4.8/compact-1.2.gemspec.rz 200",
      "GET gems/compact-1.2.gem 200",
    ]);
  });

  // gem knows what it has by its date alone.
  it("downloads an index again only after a change", async () => {
    const writer = await makeUser();
    const home = new Home(writer.name, `Bearer ${await makeToken(writer, "write:package")}`);
    const list = async () => {
      const args = ["list", "--remote", "--verbose", "--clear-sources"];
      const source = ["--source", `${home.registry}/`];
      const { code, output } = await tryProgram("gem", [...args, ...source], home.options);
      expect(code, output).toBe(0);
      return requestsIn(output);
    };
    const index = "GET latest_specs.4.8.gz";
    for (const version of ["1.0", "1.1"]) {
      expect(await home.push(await home.build("polled", version))).toMatchObject({ code: 0 });
      expect(await list()).toContain(`${index} 200`);
      // What was downloaded in the second of a change may be from before it.
      await setTimeout(1000);
      await list();
      expect(await list()).toContain(`${index} 304`);
    }
  });

  it("updates by Bundler, which reads what was appended to the index", async () => {
    const home = openHome();
    const folder = join(home.path, "app");
    mkdirSync(folder);
    writeFileSync(join(folder, "Gemfile"), `source "${home.registry}"\ngem "moving"\n`);
    const bundle = (...args: string[]) =>
      runProgram("bundle", args, { ...home.options, directory: folder });
    await bundle("config", "set", "--local", "path", "vendor");
    await home.push(await home.build("moving", "1.0"));
    await bundle("install");
    expect(await bundle("exec", "ruby", "-e", 'require "moving"')).toBe("moving 1.0\n");
    await home.push(await home.build("moving", "1.1"));
    await bundle("update", "moving");
    expect(await bundle("exec", "ruby", "-e", 'require "moving"')).toBe("moving 1.1\n");
    const env = { GEM_HOST_API_KEY: token };
    await runProgram("gem", ["yank", "--host", home.registry, "moving", "-v", "1.1"], {
      ...home.options,
      env: { ...home.options.env, ...env },
    });
    // Bundler goes on using what is installed, and goes back to no version before that of the lock
    // file.
    rmSync(join(folder, "vendor"), { recursive: true });
    rmSync(join(folder, "Gemfile.lock"));
    await bundle("install");
    expect(await bundle("exec", "ruby", "-e", 'require "moving"')).toBe("moving 1.0\n");
  });

  it("reads the specification that the gem has", async () => {
    const home = openHome();
    const more = `gem.add_dependency "base", "~> 1.0", "!= 1.1"
      gem.add_development_dependency "rake"
      gem.platform = "x86_64-linux"
      gem.license = "MIT"
      gem.email = ["a@example.com", "b@example.com"]
      gem.homepage = "https://example.com"
      gem.metadata = { "source_code_uri" => "https://example.com/source" }
      gem.description = "Longer ${"text ".repeat(60)}"
      gem.required_rubygems_version = ">= 3"
      gem.date = "2024-02-29"`;
    const file = await home.build("full", "2.0.0.rc1", more);
    expect(await home.push(file)).toMatchObject({ code: 0 });
    const script = `
      require "rubygems/package"; require "net/http"; require "zlib"
      name = "full-2.0.0.rc1-x86_64-linux"
      get = ->(path) { Net::HTTP.get(URI("${home.registry}/" + path)) }
      read = Marshal.load(Zlib::Inflate.inflate(get["quick/Marshal.4.8/#{name}.gemspec.rz"]))
      # RubyGems itself loses the licenses on the way.
      built = Marshal.load(Marshal.dump(Gem::Package.new("${file}").spec))
      fields = %w[name version platform date summary description authors email homepage licenses
                  metadata required_ruby_version required_rubygems_version dependencies full_name]
      fields.each { |field| raise "#{field}: #{read.send(field).inspect} #{built.send(field).inspect}" if read.send(field) != built.send(field) }
      listed = Marshal.load(Zlib.gunzip(get["prerelease_specs.4.8.gz"]))
      raise listed.inspect unless listed.include?(["full", Gem::Version.new("2.0.0.rc1"), "x86_64-linux"])
      raise "other bytes" if get["gems/#{name}.gem"] != File.binread("${file}")
      puts "same"`;
    expect(await home.ruby(script)).toBe("same\n");
  });

  it("refuses a wrong token, and what is no gem", async () => {
    const home = openHome();
    const file = await home.build("refused", "1.0");
    const stranger = new Home(owner.name, "Bearer 0123456789012345678901234567890123456789");
    expect(await stranger.push(file)).toMatchObject({ code: 1 });
    const other = await makeUser();
    const foreign = new Home(owner.name, await makeToken(other, "write:package"));
    expect(await foreign.push(file)).toMatchObject({ code: 1 });
    expect((await home.install("refused", "--source", `${home.registry}/`)).code).not.toBe(0);
  });

  it("installs the gems of a private owner with credentials only", async () => {
    const hidden = await makeUser();
    const key = await makeToken(hidden, "write:package");
    const reader = new Home(hidden.name, key);
    expect(await reader.push(await reader.build("secret", "1.0"))).toMatchObject({ code: 0 });
    await callApi(admin, "PATCH", `/admin/users/${hidden.name}`, {
      source_id: 0,
      login_name: hidden.name,
      visibility: "private",
    });
    expect((await reader.install("secret", "--source", `${reader.registry}/`)).code).not.toBe(0);
    const signedIn = reader.registry.replace("://", `://${hidden.name}:${key}@`);
    const installed = await reader.install("secret", "--source", `${signedIn}/`);
    expect(installed, installed.output).toMatchObject({ code: 0 });
    expect(existsSync(join(reader.path, "gems/gems/secret-1.0"))).toBe(true);
  });
});
