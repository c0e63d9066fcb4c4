import type {
  ForeignFilter,
  ForeignItems,
  ForeignKind,
  ForeignPage,
  ForeignProject,
  ForgeReader,
} from "../../../forges/forge.ts";
import type { ExportArchive } from "./export-archive.ts";
import { pagePath } from "./export-files.ts";
import { exportItems } from "./export-items.ts";

/** Reads an export as a forge is read. The cursor is the number of the file. */
export class ExportReader implements ForgeReader {
  readonly service = "bundle";
  private readonly archive: ExportArchive;

  constructor(archive: ExportArchive) {
    this.archive = archive;
  }

  async readProject(): Promise<ForeignProject> {
    const { name: _, ...project } = this.archive.manifest.project;
    return { ...project, cloneUrl: "" };
  }

  /** @throws Failure `invalid` for a file that has other items, or is missing among others. */
  async readPage<K extends ForeignKind>(
    kind: K,
    cursor: string | undefined,
    _filter: ForeignFilter,
  ): Promise<ForeignPage<ForeignItems[K]>> {
    const count = this.archive.countPages(kind);
    if (count === 0) return { items: [], next: undefined };
    const page = Number(cursor ?? 1);
    const items = await this.archive.readPage(pagePath(kind, page), exportItems(kind));
    return { items, next: page < count ? String(page + 1) : undefined };
  }

  /** Nothing is downloaded. */
  headersFor(): Readonly<Record<string, string>> {
    return {};
  }
}
