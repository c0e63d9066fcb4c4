import { createHash } from "node:crypto";
import { join } from "node:path";

import { TextReader, Uint8ArrayWriter, ZipWriter } from "@zip.js/zip.js";

import type { Journal } from "../api/usage.ts";
import { measure } from "./measure.ts";
import type { Options } from "./options.ts";
import { openPypiserver } from "./pypiserver.ts";
import { addressOf, authorizationOf, forEachAtOnce, type Registry } from "./registry.ts";

const PROJECT = "large";
/** Requests at once while files are loaded. */
const LOADING = 8;

export const openPeer = (directory: string): Promise<Registry | undefined> =>
  openPypiserver(join(directory, "pypiserver"));

/** Measures a Python project of many files. @returns Tables. */
export async function bench(
  _directory: string,
  registries: readonly Registry[],
  journal: Journal,
  { files, seconds }: Options,
): Promise<string[]> {
  const versions = Array.from({ length: files }, (_, at) => `1.0.${at}`);
  for (const registry of registries) {
    await forEachAtOnce(versions, LOADING, (version) => upload(registry, PROJECT, version));
  }
  const wheels = new Map<Registry, string>();
  for (const registry of registries) wheels.set(registry, await findWheel(registry));
  const rates = await measure(
    {
      registries,
      casesOf: (registry) => [
        {
          name: `simple page of ${files} files`,
          status: 200,
          next: () => ({
            method: "GET",
            path: `${registry.path}simple/${PROJECT}/`,
            headers: { accept: "text/html" },
          }),
        },
        {
          name: "wheel",
          status: 200,
          next: () => ({ method: "GET", path: wheels.get(registry) ?? "" }),
        },
      ],
      publicationOf: async (registry, at) => {
        const { headers, body } = await formOf(`new-${at}`, "1.0.0");
        return {
          method: "POST",
          path: registry.path,
          headers: { ...headers, ...authorizationOf(registry) },
          body,
          status: uploadedStatus(registry),
        };
      },
    },
    journal,
    seconds,
  );
  return [rates];
}

/** What an upload is answered with: 201 by the service, as by Gitea. */
const uploadedStatus = ({ path }: Registry): number => (path === "/" ? 200 : 201);

async function upload(registry: Registry, name: string, version: string): Promise<void> {
  const { headers, body } = await formOf(name, version);
  const answer = await fetch(addressOf(registry), {
    method: "POST",
    headers: { ...headers, ...authorizationOf(registry) },
    body,
  });
  const text = await answer.text();
  if (answer.status !== uploadedStatus(registry)) {
    throw new Error(`${registry.name} answered ${answer.status}: ${text}`);
  }
}

/** The path of a wheel, as the page of the project links to it. */
async function findWheel(registry: Registry): Promise<string> {
  const page = new URL(`simple/${PROJECT}/`, addressOf(registry));
  const answer = await fetch(page, { headers: { accept: "text/html" } });
  const link = /href="([^"#]*-1\.0\.0-[^"#]*)/.exec(await answer.text())?.[1];
  if (link === undefined) throw new Error(`${registry.name} lists no wheel`);
  return new URL(link, page).pathname;
}

/** The form that twine sends. */
async function formOf(name: string, version: string) {
  const form = new FormData();
  const wheel = await makeWheel(name, version);
  const fields = {
    ":action": "file_upload",
    protocol_version: "1",
    name,
    version,
    sha256_digest: createHash("sha256").update(wheel).digest("hex"),
  };
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  const file = `${name.replaceAll("-", "_")}-${version}-py3-none-any.whl`;
  form.append("content", new File([wheel], file));
  const encoded = new Response(form);
  return {
    headers: { "content-type": encoded.headers.get("content-type") ?? "" },
    body: new Uint8Array(await encoded.arrayBuffer()),
  };
}

async function makeWheel(name: string, version: string): Promise<Uint8Array<ArrayBuffer>> {
  const zip = new ZipWriter(new Uint8ArrayWriter(), { useWebWorkers: false });
  const info = `${name.replaceAll("-", "_")}-${version}.dist-info`;
  const metadata = `Metadata-Version: 2.2\nName: ${name}\nVersion: ${version}\nRequires-Python: >=3.9\n`;
  const files = {
    [`${name.replaceAll("-", "_")}.py`]: `VERSION = "${version}"\n`,
    [`${info}/METADATA`]: metadata,
    [`${info}/WHEEL`]: "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    [`${info}/RECORD`]: "",
  };
  for (const [path, text] of Object.entries(files)) await zip.add(path, new TextReader(text));
  return zip.close();
}
