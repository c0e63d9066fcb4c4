import { createHash } from "node:crypto";

import { frame, makeCrate } from "../registries/cargo/crates.ts";
import { makeChart } from "../registries/helm/charts.ts";
import { makePublication } from "../registries/npm/documents.ts";
import { formOf, makeWheel } from "../registries/pypi/distributions.ts";
import { makeZip } from "./archives.ts";
import type { Answer, Sending } from "./call.ts";
import { digestOf, TestImage } from "./container-images.ts";
import { makeControl, makeDeb } from "./debs.ts";
import { makeGem } from "./gems.ts";
import type { TestUser } from "./make.ts";
import { makeNupkg } from "./nupkgs.ts";
import { doorsWith } from "./service.ts";

// A real package of each format, and the addresses by which clients read it.

/**
 * Variables of a service that seals the signing keys of registries, and counts each download at
 * once.
 */
export const SETTINGS = {
  SEALING_KEYS: `new:${"A".repeat(43)}=`,
  PACKAGES_DOWNLOAD_COUNT_SECONDS: "0",
};

const serve = doorsWith(SETTINGS);

/** A read of a registry. */
export interface RegistryRead {
  readonly title: string;
  /** Whether the read counts as a download, for which a row is written after the response. */
  readonly isDownload?: boolean;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface PublishedFormat {
  /** Publishes a version, such as `1.0.3`, of a package, such as `tool`. */
  readonly publish: (owner: TestUser, name: string, version: string) => Promise<Answer>;
  /** The reads of a package that has the version. */
  readonly reads: (
    owner: TestUser,
    name: string,
    version: string,
  ) => Promise<readonly RegistryRead[]> | readonly RegistryRead[];
}

const pathOf = ({ name }: TestUser, format: string) => `/api/packages/${name}/${format}`;

const send = (owner: TestUser, method: string, path: string, sending: Sending) =>
  serve(method, path, { as: owner, ...sending });

/** Reads below a path, by their titles. */
const below = (root: string, paths: Readonly<Record<string, string>>): RegistryRead[] =>
  Object.entries(paths).map(([title, path]) => ({ title, path: `${root}/${path}` }));

/** The same of files whose downloads are counted. */
const downloads = (root: string, paths: Readonly<Record<string, string>>): RegistryRead[] =>
  Object.entries(paths).map(([title, path]) => ({
    title,
    path: `${root}/${path}`,
    isDownload: true,
  }));

const MAVEN = "org/example";
const ABBREVIATED = "application/vnd.npm.install-v1+json";

/** Each format that is served. */
export const PUBLISHED: Readonly<Record<string, PublishedFormat>> = {
  generic: {
    publish: (owner, name, version) =>
      send(owner, "PUT", `${pathOf(owner, "generic")}/${name}/${version}/file.bin`, {
        body: `${name} ${version}`,
      }),
    reads: (owner, name, version) =>
      downloads(pathOf(owner, "generic"), { file: `${name}/${version}/file.bin` }),
  },
  npm: {
    publish: async (owner, name, version) =>
      send(owner, "PUT", `${pathOf(owner, "npm")}/${name}`, {
        json: await makePublication(name, version),
      }),
    reads: (owner, name, version) => [
      ...below(pathOf(owner, "npm"), {
        packument: name,
        version: `${name}/${version}`,
        "version by its tag": `${name}/latest`,
        tags: `-/package/${name}/dist-tags`,
        search: `-/v1/search?text=${name}&size=1`,
      }),
      ...downloads(pathOf(owner, "npm"), {
        tarball: `${name}/-/${version}/${name}-${version}.tgz`,
        "tarball by its name alone": `${name}/-/${name}-${version}.tgz`,
      }),
      {
        title: "abbreviated packument",
        path: `${pathOf(owner, "npm")}/${name}`,
        headers: { Accept: ABBREVIATED },
      },
    ],
  },
  pypi: {
    publish: (owner, name, version) =>
      send(owner, "POST", `${pathOf(owner, "pypi")}/`, { body: formOf(makeWheel(name, version)) }),
    reads: (owner, name, version) => {
      const wheel = `files/${name}/${version}/${name}-${version}-py3-none-any.whl`;
      return [
        ...below(pathOf(owner, "pypi"), {
          projects: "simple/",
          "simple page": `simple/${name}/`,
          "metadata of a wheel": `${wheel}.metadata`,
          "JSON document": `pypi/${name}/json`,
          "JSON document of a version": `pypi/${name}/${version}/json`,
        }),
        ...downloads(pathOf(owner, "pypi"), { wheel }),
      ];
    },
  },
  cargo: {
    publish: async (owner, name, version) =>
      send(owner, "PUT", `${pathOf(owner, "cargo")}/api/v1/crates/new`, {
        body: frame(await makeCrate(name, version)),
      }),
    reads: (owner, name, version) => [
      ...below(pathOf(owner, "cargo"), {
        configuration: "config.json",
        "sparse index": `${name.slice(0, 2)}/${name.slice(2, 4)}/${name}`,
        owners: `api/v1/crates/${name}/owners`,
        search: `api/v1/crates?q=${name}&per_page=1`,
      }),
      ...downloads(pathOf(owner, "cargo"), { crate: `api/v1/crates/${name}/${version}/download` }),
    ],
  },
  go: {
    publish: (owner, name, version) => {
      const module = `example.com/${name}`;
      const body = makeZip([
        { path: `${module}@v${version}/go.mod`, content: `module ${module}\n` },
      ]);
      return send(owner, "PUT", `${pathOf(owner, "go")}/upload`, { body });
    },
    reads: (owner, name, version) => {
      const root = `${pathOf(owner, "go")}/example.com/${name}`;
      return [
        ...below(root, {
          list: "@v/list",
          latest: "@latest",
          info: `@v/v${version}.info`,
          "go.mod": `@v/v${version}.mod`,
        }),
        ...downloads(root, { zip: `@v/v${version}.zip` }),
      ];
    },
  },
  maven: {
    publish: async (owner, name, version) => {
      const root = `${pathOf(owner, "maven")}/${MAVEN}/${name}/${version}/${name}-${version}`;
      const pom =
        `<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId>` +
        `<artifactId>${name}</artifactId><version>${version}</version></project>`;
      await send(owner, "PUT", `${root}.jar`, { body: `jar of ${name} ${version}` });
      return send(owner, "PUT", `${root}.pom`, { body: pom });
    },
    reads: (owner, name, version) => {
      const root = `${pathOf(owner, "maven")}/${MAVEN}/${name}`;
      return [
        ...below(root, {
          metadata: "maven-metadata.xml",
          "checksum of the metadata": "maven-metadata.xml.sha1",
          "checksum of a jar": `${version}/${name}-${version}.jar.sha1`,
        }),
        ...downloads(root, {
          jar: `${version}/${name}-${version}.jar`,
          pom: `${version}/${name}-${version}.pom`,
        }),
      ];
    },
  },
  composer: {
    publish: (owner, name, version) => {
      const manifest = JSON.stringify({ name: `acme/${name}`, version });
      const body = makeZip([{ path: "composer.json", content: manifest }]);
      return send(owner, "PUT", `${pathOf(owner, "composer")}/`, { body });
    },
    reads: async (owner, name, version) => {
      const p2 = `${pathOf(owner, "composer")}/p2/acme/${name}.json`;
      const { body } = await send(owner, "GET", p2, {});
      const listed = body.packages[`acme/${name}`] as { version: string; dist: { url: string } }[];
      const own = listed.find((each) => each.version === version);
      return [
        ...below(pathOf(owner, "composer"), {
          root: "packages.json",
          list: "list.json",
          search: `search.json?q=${name}&per_page=1`,
          p2: `p2/acme/${name}.json`,
          "p2 of branches": `p2/acme/${name}~dev.json`,
        }),
        { title: "archive", path: new URL(own?.dist.url ?? "").pathname, isDownload: true },
      ];
    },
  },
  rubygems: {
    publish: async (owner, name, version) =>
      send(owner, "POST", `${pathOf(owner, "rubygems")}/api/v1/gems`, {
        body: await makeGem(name, version),
      }),
    reads: (owner, name, version) => [
      ...below(pathOf(owner, "rubygems"), {
        root: "",
        "marshalled index": "specs.4.8.gz",
        "marshalled index of the latest": "latest_specs.4.8.gz",
        "marshalled index of prereleases": "prerelease_specs.4.8.gz",
        versions: "versions",
        names: "names",
        info: `info/${name}`,
        gemspec: `quick/Marshal.4.8/${name}-${version}.gemspec.rz`,
        search: `api/v1/search.json?query=${name}`,
        "JSON of a gem": `api/v1/gems/${name}.json`,
        "JSON of versions": `api/v1/versions/${name}.json`,
      }),
      ...downloads(pathOf(owner, "rubygems"), { gem: `gems/${name}-${version}.gem` }),
    ],
  },
  nuget: {
    publish: (owner, name, version) =>
      send(owner, "PUT", `${pathOf(owner, "nuget")}/`, { body: makeNupkg(name, version) }),
    reads: (owner, name, version) => [
      ...below(pathOf(owner, "nuget"), {
        service: "index.json",
        query: `query?q=${name}&take=1`,
        autocomplete: `autocomplete?id=${name}`,
        registration: `registration/${name}/index.json`,
        "registration of a version": `registration/${name}/${version}.json`,
        "flat container": `package/${name}/index.json`,
        "service of version 2": "",
        "metadata of version 2": "$metadata",
        "entry of version 2": `Packages(Id='${name}',Version='${version}')`,
        "versions of version 2": `FindPackagesById()?id='${name}'`,
        "search of version 2": `Search()?searchTerm='${name}'&$top=1`,
        "count of version 2": `Search()/$count?searchTerm='${name}'`,
      }),
      ...downloads(pathOf(owner, "nuget"), {
        nupkg: `package/${name}/${version}/${name}.${version}.nupkg`,
        nuspec: `package/${name}/${version}/${name}.nuspec`,
      }),
    ],
  },
  helm: {
    publish: async (owner, name, version) =>
      send(owner, "POST", `${pathOf(owner, "helm")}/api/charts`, {
        body: await makeChart(name, version),
      }),
    reads: (owner, name, version) => [
      ...below(pathOf(owner, "helm"), {
        index: "index.yaml",
        charts: "api/charts",
        chart: `api/charts/${name}`,
        "version of a chart": `api/charts/${name}/${version}`,
      }),
      ...downloads(pathOf(owner, "helm"), { archive: `${name}-${version}.tgz` }),
    ],
  },
  debian: {
    publish: async (owner, name, version) =>
      send(owner, "PUT", `${pathOf(owner, "debian")}/pool/stable/main/upload`, {
        body: await makeDeb(makeControl({ Package: name, Version: version })),
      }),
    reads: async (owner, name, version) => {
      const packages = `dists/stable/main/binary-amd64/Packages`;
      const { body } = await send(owner, "GET", `${pathOf(owner, "debian")}/${packages}`, {});
      const hash = createHash("sha256").update(String(body)).digest("hex");
      return [
        ...below(pathOf(owner, "debian"), {
          key: "repository.key",
          Release: "dists/stable/Release",
          InRelease: "dists/stable/InRelease",
          "Release.gpg": "dists/stable/Release.gpg",
          Packages: packages,
          "Packages by their hash": `dists/stable/main/binary-amd64/by-hash/SHA256/${hash}`,
        }),
        ...downloads(pathOf(owner, "debian"), {
          deb: `pool/stable/main/${name}_${version}_amd64.deb`,
        }),
      ];
    },
  },
  container: {
    publish: async (owner, name, version) => {
      const image = new TestImage(owner, name, owner);
      await image.push(version, { layers: [`layer of ${name} ${version}`] });
      return image.get(`manifests/${version}`);
    },
    reads: async (owner, name, version) => {
      const image = new TestImage(owner, name, owner);
      const manifest = (await image.get(`manifests/${version}`)).body;
      const text = typeof manifest === "string" ? manifest : JSON.stringify(manifest);
      return [
        ...below(image.path, {
          blob: `blobs/${digestOf(`layer of ${name} ${version}`)}`,
          tags: "tags/list?n=1",
          referrers: `referrers/${digestOf(text)}`,
        }),
        ...downloads(image.path, {
          "manifest by its tag": `manifests/${version}`,
          "manifest by its digest": `manifests/${digestOf(text)}`,
        }),
      ];
    },
  },
};
