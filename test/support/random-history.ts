import { makeRandom, type Random } from "../git/support/random.ts";

const BRANCHES = ["main", "topic", "topic-2", "fix/one", "fix/two", "täst/日本"];

/**
 * A history that grows, is rewritten, and loses refs, in streams of `git fast-import`: merges,
 * several roots, renames, executables, symlinks, submodules, times that go back, and tags of
 * everything.
 */
export class RandomHistory {
  private readonly random: Random;
  private marks = 0;
  private seconds = 1_600_000_000;

  constructor(seed: number) {
    this.random = makeRandom(seed);
  }

  /**
   * The stream of the next commits.
   *
   * @param known Refs that exist, with their values.
   */
  grow(known: Readonly<Record<string, string>>): string {
    const tips = new Map<string, string>();
    for (const [name, oid] of Object.entries(known)) {
      if (name.startsWith("refs/heads/")) tips.set(name.slice("refs/heads/".length), oid);
    }
    let stream = "";
    const named = new Set<string>();
    // Git sets each of these refs at most once in a stream.
    const isNew = (name: string): boolean => !named.has(name) && named.add(name).size > 0;
    const count = 1 + this.below(12);
    for (let at = 0; at < count; at++) {
      const branch = this.pick(BRANCHES);
      const mark = ++this.marks;
      stream += this.commit(branch, mark, tips);
      tips.set(branch, `:${mark}`);
      const tag = `v${this.below(8)}`;
      if (this.below(5) === 0 && isNew(tag)) stream += this.tag(tag, mark);
      const light = this.pick(["tags/light", "tags/light-2", "notes/commits", "custom/x"]);
      if (this.below(5) === 0 && isNew(light)) {
        stream += `reset refs/${light}\nfrom :${mark}\n\n`;
      }
    }
    return stream;
  }

  /** Commands of `git update-ref --stdin` that delete and rewind refs. */
  shrink(known: Readonly<Record<string, string>>): string {
    let commands = "";
    for (const [name, oid] of Object.entries(known)) {
      const lot = this.below(6);
      if (lot === 0) commands += `delete ${name}\n`;
      else if (name.startsWith("refs/heads/") && lot === 1) {
        const other = this.pick(Object.entries(known).filter(([each]) => /heads/.test(each)))[1];
        if (other !== oid) commands += `update ${name} ${other}\n`;
      }
    }
    return commands;
  }

  private commit(branch: string, mark: number, tips: ReadonlyMap<string, string>): string {
    this.seconds += this.below(10) === 0 ? -5000 : this.below(1000);
    const message = `commit ${mark} of ${branch}\n`;
    const others = [...tips].filter(([name]) => name !== branch);
    const isRoot = this.below(15) === 0;
    // Often a branch is rewritten from another one.
    const other = others.length > 0 ? this.pick(others)[1] : undefined;
    const from = this.below(4) === 0 ? (other ?? tips.get(branch)) : tips.get(branch);
    let text = `commit refs/heads/${branch}\nmark :${mark}\n`;
    text += `author Ä <a@example.com> ${this.seconds} +0130\n`;
    text += `committer C <c@example.com> ${this.seconds} -0800\n`;
    text += `data ${bytesOf(message)}\n${message}`;
    if (isRoot) text = `reset refs/heads/${branch}\n\n${text}`;
    else if (from !== undefined) text += `from ${from}\n`;
    const merged = this.below(4) === 0 && other !== undefined ? this.pick(others)[1] : undefined;
    if (!isRoot && from !== undefined && merged !== undefined && merged !== from) {
      text += `merge ${merged}\n`;
    }
    const changes = 1 + this.below(4);
    for (let at = 0; at < changes; at++) text += this.change(mark);
    return `${text}\n`;
  }

  private change(mark: number): string {
    const path = `${this.pick(["", "a/", "a/b/", "ü/"])}file-${this.below(9)}`;
    const data = `${mark}\n${`line ${this.below(20)}\n`.repeat(this.below(60))}`;
    switch (this.below(8)) {
      case 0:
        return `D ${path}\n`;
      case 1:
        return `M 120000 inline link-${this.below(3)}\ndata 4\nto/a\n`;
      case 2:
        return `M 160000 ${String(mark).padStart(40, "1")} module-${this.below(2)}\n`;
      case 3:
        return `M 100755 inline run-${this.below(3)}\ndata ${bytesOf(data)}\n${data}\n`;
      default:
        return `M 100644 inline ${path}\ndata ${bytesOf(data)}\n${data}\n`;
    }
  }

  private tag(tag: string, mark: number): string {
    const message = `tag of ${mark}\n`;
    return `tag ${tag}\nfrom :${mark}\ntagger T <t@example.com> ${this.seconds} +0000\ndata ${bytesOf(message)}\n${message}\n`;
  }

  private below(bound: number): number {
    return this.random.below(bound);
  }

  private pick<T>(items: readonly T[]): T {
    return this.random.pick(items);
  }
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
