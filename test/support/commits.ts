import { encodeUtf8 } from "../../src/git/byte-text.ts";
import { oidBytes } from "../../src/git/oid.ts";
import { PackBuilder } from "../../src/git/pack/pack-builder.ts";
import { joinBytes } from "../../src/git/wire/pkt-line.ts";
import { codec } from "../../src/storage/codec.ts";

/** The parts of a commit; the keys of `files` are paths. */
export interface CommitFields {
  files?: Readonly<Record<string, string>>;
  parents?: readonly string[];
  message?: string;
  author?: string;
  /** By default one minute after the previous commit. */
  authorSeconds?: number;
  committer?: string;
  /** Header lines after the committer line, each with its line feed. */
  headers?: string;
}

/** Builds a pack commit by commit. */
export class History {
  private readonly builder = new PackBuilder(codec);
  private seconds = 1_700_000_000;

  /** Dates the next commit one minute after a time. */
  at(seconds: number): void {
    this.seconds = Math.floor(seconds);
  }

  /** Adds a commit dated one minute after the previous one, and returns its id. */
  commit({ files = {}, parents = [], message = "Change\n", ...rest }: CommitFields = {}): string {
    this.seconds += 60;
    const { author = "A <a@nobody.example>", committer = author, headers = "" } = rest;
    const { authorSeconds = this.seconds } = rest;
    const lines = [
      `tree ${this.tree(files)}\n`,
      ...parents.map((oid) => `parent ${oid}\n`),
      `author ${author} ${authorSeconds} +0100\n`,
      `committer ${committer} ${this.seconds} -0030\n`,
    ];
    return this.builder.add("commit", encodeUtf8(`${lines.join("")}${headers}\n${message}`));
  }

  tag(oid: string, name: string): string {
    const who = "A <a@nobody.example> 1700000000 +0000";
    const head = `object ${oid}\ntype commit\ntag ${name}\ntagger ${who}\n`;
    return this.builder.add("tag", encodeUtf8(`${head}\n${name}\n`));
  }

  build(): Uint8Array {
    return this.builder.build();
  }

  private tree(files: Readonly<Record<string, string>>): string {
    const entries = new Map<string, { mode: string; oid: string }>();
    const directories = new Map<string, Record<string, string>>();
    for (const [path, text] of Object.entries(files)) {
      const [name = "", ...rest] = path.split("/");
      if (rest.length === 0) {
        entries.set(name, { mode: "100644", oid: this.builder.add("blob", encodeUtf8(text)) });
      } else {
        directories.set(name, { ...directories.get(name), [rest.join("/")]: text });
      }
    }
    for (const [name, inner] of directories)
      entries.set(name, { mode: "40000", oid: this.tree(inner) });
    const key = ([name, { mode }]: [string, { mode: string }]): string =>
      mode === "40000" ? `${name}/` : name;
    const sorted = [...entries].toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
    const parts = sorted.flatMap(([name, { mode, oid }]) => [
      encodeUtf8(`${mode} ${name}\0`),
      oidBytes(oid),
    ]);
    return this.builder.add("tree", joinBytes(parts));
  }
}
