import type { PackageType } from "../../../db/schema/package-types.ts";
import { toShellWord } from "../shell-word.ts";

/** A version, and where the service is. */
export interface Installed {
  /** Without a trailing slash. */
  readonly rootUrl: string;
  readonly owner: string;
  readonly name: string;
  readonly version: string;
  /** Names of its files. */
  readonly files: readonly string[];
}

/**
 * The commands, or the lines of a project's file, that install a version; undefined for a format
 * that is not served. `docs/packages` explains them.
 */
export function installationOf(type: PackageType, installed: Installed): string | undefined {
  return INSTALLATIONS[type]?.({
    ...installed,
    registry: `${installed.rootUrl}/api/packages/${installed.owner}/${type}`,
  });
}

type Installation = (of: Installed & { readonly registry: string }) => string;

const lines = (...all: readonly string[]): string => all.join("\n");

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const INSTALLATIONS: Readonly<Partial<Record<PackageType, Installation>>> = {
  cargo: ({ registry, name, version }) =>
    lines(
      "# ~/.cargo/config.toml",
      "[registries.forge]",
      `index = "sparse+${registry}/"`,
      "",
      `cargo add --registry forge ${toShellWord(`${name}@${version}`)}`,
    ),
  composer: ({ registry, name, version }) =>
    lines(
      `composer config repositories.forge composer ${registry}`,
      `composer require ${toShellWord(`${name}:${version}`)}`,
    ),
  container: ({ rootUrl, owner, name, version }) => {
    const image = `${new URL(rootUrl).host}/${owner.toLowerCase()}/${name}`;
    const reference = /^sha\d+:/.test(version) ? `${image}@${version}` : `${image}:${version}`;
    return `docker pull ${toShellWord(reference)}`;
  },
  debian: ({ registry, owner, name, version }) =>
    lines(
      `curl -fsS ${registry}/repository.key -o /etc/apt/keyrings/${owner}.asc`,
      // A version may be in several distributions; its publisher says which.
      `echo "deb [signed-by=/etc/apt/keyrings/${owner}.asc] ${registry} DISTRIBUTION COMPONENT" \\`,
      `  > /etc/apt/sources.list.d/${owner}.list`,
      "apt-get update",
      `apt-get install ${toShellWord(`${name}=${version}`)}`,
    ),
  generic: ({ registry, name, version, files }) =>
    lines(
      ...files.map((file) => {
        const path = [name, version, file].map((each) => encodeURIComponent(each.toWellFormed()));
        return `curl -fsSLo ${toShellWord(file)} ${toShellWord(`${registry}/${path.join("/")}`)}`;
      }),
    ),
  go: ({ registry, name, version }) =>
    lines(
      `GOPROXY=${registry},https://proxy.golang.org,direct GONOSUMDB=${toShellWord(name)} \\`,
      `  go get ${toShellWord(`${name}@${version}`)}`,
    ),
  helm: ({ registry, owner, name, version }) =>
    lines(
      `helm repo add ${owner} ${registry}`,
      "helm repo update",
      `helm pull ${toShellWord(`${owner}/${name}`)} --version ${toShellWord(version)}`,
    ),
  maven: ({ registry, name, version }) => {
    const [group = "", artifact = ""] = name.split(":");
    return lines(
      "<repositories>",
      `  <repository><id>forge</id><url>${registry}</url></repository>`,
      "</repositories>",
      "<dependency>",
      `  <groupId>${escapeXml(group)}</groupId>`,
      `  <artifactId>${escapeXml(artifact)}</artifactId>`,
      `  <version>${escapeXml(version)}</version>`,
      "</dependency>",
    );
  },
  npm: ({ registry, name, version }) => {
    const [, scope] = /^(@[^/]+)\//.exec(name) ?? [];
    const install = `npm install ${toShellWord(`${name}@${version}`)}`;
    return scope === undefined
      ? `${install} --registry=${registry}/`
      : lines(`npm config set ${toShellWord(`${scope}:registry=${registry}/`)}`, install);
  },
  nuget: ({ registry, name, version }) =>
    lines(
      `dotnet nuget add source --name forge ${registry}/index.json`,
      `dotnet add package --source forge --version ${toShellWord(version)} ${toShellWord(name)}`,
    ),
  pypi: ({ registry, name, version }) =>
    `pip install --index-url ${registry}/simple/ ${toShellWord(`${name}==${version}`)}`,
  rubygems: ({ registry, name, version }) =>
    `gem install --clear-sources --source ${registry}/ ${toShellWord(name)} --version ${toShellWord(version)}`,
};
