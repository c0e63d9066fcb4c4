import type { z } from "zod";

import type { ArchiveSource } from "../../../lib/archive-source.ts";
import { Failure, invalid } from "../../../lib/failure.ts";
import { parseJson } from "../../../lib/json.ts";
import { openZip, type ZipFile } from "../../../lib/zip.ts";
import { UNPACKED_BYTES_FREE } from "../../../lib/unpacked-size.ts";
import { ExportManifest, MANIFEST } from "./export-files.ts";

/**
 * Files of one export that are read. The library holds 8 KB in memory for each, of the 128 MB that
 * a Worker has.
 */
const EXPORT_FILES_MAX = 5000;

/**
 * The maximum size of the unpacked files besides JSON, in multiples of the archive's size: exports
 * store these files uncompressed.
 *
 * SECURITY: they are stored here.
 */
const FILES_RATIO_MAX = 4;

/** Bytes of JSON that are read at once, unpacked. */
const MANIFEST_BYTES_MAX = 1024 * 1024;
const PAGE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * An export that is read.
 *
 * SECURITY: anybody may have written it. The archive is checked by `openZip`, each JSON file by its
 * schema, and files that nothing refers to are not read.
 */
export class ExportArchive {
  readonly manifest: ExportManifest;
  private readonly files: ReadonlyMap<string, ZipFile>;

  private constructor(files: ReadonlyMap<string, ZipFile>, manifest: ExportManifest) {
    this.files = files;
    this.manifest = manifest;
  }

  /**
   * Reads the directory of an archive and its manifest.
   *
   * @throws Failure `invalid` for what is no export, or one of another version. An error of the
   *   source is thrown unchanged.
   */
  static async open(source: ArchiveSource): Promise<ExportArchive> {
    const files = new Map<string, ZipFile>();
    for (const file of await refused(openZip(source, { entriesMax: EXPORT_FILES_MAX }))) {
      if (files.has(file.path)) throw notAnExport("it has two files of the same name");
      files.set(file.path, file);
    }
    const unpackedBytes = [...files.values()]
      .filter(({ path }) => !path.endsWith(".json"))
      .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (unpackedBytes > UNPACKED_BYTES_FREE + FILES_RATIO_MAX * source.sizeBytes) {
      throw notAnExport("its files unpack to too much for its size");
    }
    const manifest = files.get(MANIFEST);
    if (!manifest) throw notAnExport(`it has no ${MANIFEST}`);
    return new ExportArchive(files, await readJson(manifest, MANIFEST_BYTES_MAX, ExportManifest));
  }

  has(path: string): boolean {
    return this.files.has(path);
  }

  /**
   * Streams a file; undefined if there is none. @throws Failure `malformed` while it is read, if it
   * is broken.
   */
  open(path: string): AsyncGenerator<Uint8Array, void> | undefined {
    return this.files.get(path)?.open();
  }

  /** How many files of items of a kind there are. */
  countPages(kind: string): number {
    const paths = [...this.files.keys()];
    return paths.filter((path) => path.startsWith(`${kind}/`) && path.endsWith(".json")).length;
  }

  /** Reads a file of items. @throws Failure `invalid` if it is missing, and for other content. */
  async readPage<T>(path: string, schema: z.ZodType<T>): Promise<T> {
    const file = this.files.get(path);
    if (!file) throw notAnExport(`${path} is missing`);
    return readJson(file, PAGE_BYTES_MAX, schema);
  }
}

const notAnExport = (reason: string): Failure =>
  invalid(`the file is no export of this service: ${reason}`);

/** Rethrows the refusal of an archive as the refusal of the export. */
async function refused<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Failure) throw notAnExport(error.message);
    throw error;
  }
}

async function readJson<T>(file: ZipFile, bytesMax: number, schema: z.ZodType<T>): Promise<T> {
  const bytes = await refused(file.read(bytesMax));
  let value: unknown;
  try {
    value = await parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw notAnExport(`${file.path} is no JSON`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw notAnExport([file.path, issue?.path.join("."), issue?.message].filter(Boolean).join(": "));
}
