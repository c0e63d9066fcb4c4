import { makeChart, makeProvenance } from "../registries/helm/charts.ts";
import { makePublication } from "../registries/npm/documents.ts";
import type { Answer, Sending } from "./call.ts";
import { makeNupkg, makePdb } from "./nupkgs.ts";
import { type RegistryRead, SETTINGS } from "./published-packages.ts";
import { TestImage } from "./container-images.ts";
import type { TestUser } from "./make.ts";
import { doorsWith } from "./service.ts";

// Reads that are not of a package as each format has it: of the registry itself, of the caller, and
// of what only some packages have.

const serve = doorsWith(SETTINGS);

/** A read of a registry, perhaps one that not every caller may make. */
export interface DoorRead extends RegistryRead {
  readonly needsUser?: boolean;
  /** Whether it needs a credential, be it one that names nobody. */
  readonly needsCredential?: boolean;
  readonly method?: "GET" | "HEAD";
  readonly status?: number;
}

const SYMBOLS_ID = Uint8Array.from({ length: 16 }, (_, index) => index + 1);
const SYMBOLS_KEY = "0403020106050807090a0b0c0d0e0f10ffffffff";
const SYMBOLS_TYPE = '<packageTypes><packageType name="SymbolsPackage"/></packageTypes>';

async function publish(
  owner: TestUser,
  method: string,
  path: string,
  sending: Sending,
): Promise<Answer> {
  const answer = await serve(method, path, { as: owner, ...sending });
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer;
}

const rootOf = ({ name }: TestUser, format: string) => `/api/packages/${name}/${format}`;

/**
 * The further reads of each format, by its name. Each publishes what it reads.
 *
 * @param name A package of the owner that is published, at `version`.
 */
export const DOORS: Readonly<
  Record<string, (owner: TestUser, name: string, version: string) => Promise<readonly DoorRead[]>>
> = {
  npm: async (owner) => {
    const root = rootOf(owner, "npm");
    const json = await makePublication("@acme/built", "1.0.0");
    const predicateType = "https://slsa.dev/provenance/v1";
    const bundle = {
      mediaType: "application/vnd.dev.sigstore.bundle+json;version=0.3",
      dsseEnvelope: { payload: btoa(JSON.stringify({ predicateType })), signatures: [] },
    };
    const statement = { content_type: bundle.mediaType, data: JSON.stringify(bundle) };
    Object.assign(json["_attachments"] as object, { "@acme/built-1.0.0.sigstore": statement });
    await publish(owner, "PUT", `${root}/@acme%2fbuilt`, { json });
    return [
      { title: "ping", path: `${root}/-/ping` },
      { title: "whoami", path: `${root}/-/whoami`, needsUser: true },
      { title: "profile", path: `${root}/-/npm/v1/user`, needsUser: true },
      { title: "packument with a scope", path: `${root}/@acme/built` },
      { title: "tags with a scope", path: `${root}/-/package/@acme/built/dist-tags` },
      { title: "tarball with a scope", path: `${root}/@acme/built/-/built-1.0.0.tgz` },
      { title: "attestations", path: `${root}/-/npm/v1/attestations/@acme/built@1.0.0` },
    ];
  },
  cargo: async (owner) => [
    { title: "search of everything", path: `${rootOf(owner, "cargo")}/api/v1/crates` },
  ],
  composer: async (owner) => {
    const root = rootOf(owner, "composer");
    return [{ title: "filtered list", path: `${root}/list.json?filter=acme/*` }];
  },
  maven: async (owner) => {
    const root = `${rootOf(owner, "maven")}/org/example/early`;
    const file = "1.0-SNAPSHOT/early-1.0-20260101.000000-1.jar";
    await publish(owner, "PUT", `${root}/${file}`, { body: "early" });
    return [
      { title: "metadata of a snapshot", path: `${root}/1.0-SNAPSHOT/maven-metadata.xml` },
      {
        title: "metadata of a group",
        path: `${rootOf(owner, "maven")}/org/example/early/maven-metadata.xml`,
      },
      { title: "file of a snapshot", path: `${root}/${file}` },
    ];
  },
  nuget: async (owner) => {
    const root = rootOf(owner, "nuget");
    const symbols = makeNupkg("Sym", "1.0.0", SYMBOLS_TYPE, [
      { path: "lib/net6.0/Sym.pdb", content: makePdb(SYMBOLS_ID) },
    ]);
    await publish(owner, "PUT", `${root}/`, { body: makeNupkg("Sym", "1.0.0") });
    await publish(owner, "PUT", `${root}/symbolpackage`, { body: symbols });
    return [
      { title: "symbols", path: `${root}/symbols/Sym.pdb/${SYMBOLS_KEY}/Sym.pdb` },
      { title: "autocomplete of ids", path: `${root}/autocomplete?q=sy` },
      { title: "query of everything", path: `${root}/query` },
      { title: "query of two words", path: `${root}/query?q=sym+hello` },
      { title: "query of many words", path: `${root}/query?q=s+y+m+h+e+l+l+o` },
      { title: "packages of version 2", path: `${root}/Packages()` },
      { title: "packages by their id", path: `${root}/Packages()?$filter=Id eq 'Sym'` },
      { title: "page of a registration", path: `${root}/registration/sym/page/1.0.0/1.0.0.json` },
    ];
  },
  helm: async (owner) => {
    const root = rootOf(owner, "helm");
    const archive = await makeChart("signed", "1.0.0");
    const body = makeProvenance("signed", "1.0.0", archive);
    await publish(owner, "POST", `${root}/api/charts`, { body: archive });
    await publish(owner, "POST", `${root}/api/prov`, { body });
    return [{ title: "provenance", path: `${root}/charts/signed-1.0.0.tgz.prov` }];
  },
  container: async (owner, name, version) => {
    const image = new TestImage(owner, name, owner);
    return [
      { title: "catalog", path: "/v2/_catalog", needsCredential: true },
      { title: "token", path: "/v2/token?service=container_registry" },
      { title: "check of the version", path: "/v2/", needsUser: true },
      { title: "all tags", path: `${image.path}/tags/list` },
      { title: "head of a manifest", path: `${image.path}/manifests/${version}`, method: "HEAD" },
      { title: "upload", path: await image.begin(), needsUser: true, status: 204 },
    ];
  },
};
