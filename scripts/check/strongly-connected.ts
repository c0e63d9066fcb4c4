/**
 * The strongly connected components of two or more nodes.
 *
 * @see Tarjan, "Depth-first search and linear graph algorithms" (1972)
 */
export function stronglyConnected(edges: { from: string; to: string }[]): string[][] {
  const targets = new Map<string, Set<string>>();
  for (const { from, to } of edges) {
    const known = targets.get(from) ?? new Set();
    targets.set(from, known.add(to));
  }

  const groups: string[][] = [];
  const order = new Map<string, number>();
  const stack: string[] = [];

  function visit(node: string): number {
    const number = order.size;
    order.set(node, number);
    stack.push(node);
    let low = number;
    for (const target of targets.get(node) ?? []) {
      if (!order.has(target)) low = Math.min(low, visit(target));
      else if (stack.includes(target)) low = Math.min(low, order.get(target) ?? low);
    }
    if (low === number) {
      const group = stack.splice(stack.indexOf(node));
      if (group.length > 1) groups.push(group);
    }
    return low;
  }

  for (const node of targets.keys()) if (!order.has(node)) visit(node);
  return groups;
}
