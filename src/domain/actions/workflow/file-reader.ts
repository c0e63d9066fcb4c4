import type { WorkflowFault } from "../../../db/schema/actions.ts";
import { isNothing, locate, readScalar, type SourceEntry, type SourceNode } from "./source-node.ts";
import { WorkflowError } from "./workflow-error.ts";

/** Maximum faults that are reported. */
const FAULTS_MAX = 20;

/** The text of a workflow file, and what is wrong with it so far. */
export class FileReader {
  readonly text: string;
  private readonly found = new Map<string, { message: string; offset: number | undefined }>();

  constructor(text: string) {
    this.text = text;
  }

  /** In the order of the file, each once. */
  get faults(): readonly WorkflowFault[] {
    const sorted = [...this.found.values()].toSorted((a, b) => (a.offset ?? -1) - (b.offset ?? -1));
    return sorted.slice(0, FAULTS_MAX).map(({ message, offset }) => {
      if (offset === undefined) return { message };
      const { line, column } = locate(this.text, offset);
      return { message, line, column };
    });
  }

  fail(message: string, offset?: number): void {
    this.found.set(`${offset} ${message}`, { message, offset });
  }

  /** Keeps the error of a part of the file, so that the rest of it is read as well. */
  attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof WorkflowError)) throw error;
      this.fail(error.message, error.offset);
      return undefined;
    }
  }

  /** A text; undefined if there is nothing. */
  readText(node: SourceNode | undefined, name: string): string | undefined {
    if (!node || isNothing(node)) return undefined;
    if (node.kind === "scalar") return node.text;
    this.fail(`${name} must be a text`, node.offset);
    return undefined;
  }

  /** One text, or a list of texts. */
  readTexts(node: SourceNode | undefined, name: string): readonly TextAt[] {
    if (!node || isNothing(node)) return [];
    const items = node.kind === "list" ? node.items : [node];
    return items.flatMap((item) => {
      const text = readScalar(item);
      if (text !== undefined) return { text, offset: item.offset };
      this.fail(`${name} must be a text or a list of texts`, item.offset);
      return [];
    });
  }

  /** The entries of a map; none if there is nothing. */
  readEntries(node: SourceNode | undefined, name: string): Iterable<[string, SourceEntry]> {
    if (!node || isNothing(node)) return [];
    if (node.kind === "map") return node.entries;
    this.fail(`${name} must be a map`, node.offset);
    return [];
  }
}

/** A text, and where it stands in the file. */
export interface TextAt {
  readonly text: string;
  readonly offset: number;
}
