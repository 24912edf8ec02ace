/** Widen ranges: extends the lines a model requested to the whole definition around them. */
import type { FileContent, Syntax, SyntaxNode } from "@lathe/protocol";

/** A longer definition is not used, and a longer text is not parsed at all. */
const maxLines = 300;
const maxChars = 1_000_000;

/** Grammar nodes that define something by a name. */
const definition =
  /^(?:(?:async_)?function|generator_function|method|class|abstract_class|interface|enum|struct|union|trait|impl|mod|type|type_alias|record|constructor|namespace|module|singleton_method|decorated|annotation_type|property|object|protocol|internal_module)_?(?:definition|declaration|item|specifier|signature)?$/u;
const wrappers: ReadonlySet<string> = new Set([
  "export_statement",
  "decorated_definition",
  "template_declaration",
]);
const values = /^(?:arrow_function|function_expression|function|class)$/u;

/** Ranges outside any definition stay as they are. */
export async function widenRanges(
  { path, text }: Pick<FileContent, "path" | "text">,
  asked: readonly (readonly number[])[],
  syntax: Syntax,
): Promise<readonly (readonly number[])[]> {
  const language = syntax.languageOf(path);
  if (language === undefined || text.length > maxChars) return asked;
  const tree = await syntax.parse(language, text);
  try {
    const starts = lineStarts(text);
    return asked.map((range) => {
      const [first = 1, last = starts.length] = range;
      const around = definitionAround(tree.root, { first, last }, starts);
      return around ?? range;
    });
  } finally {
    tree.close();
  }
}

interface Lines {
  readonly first: number;
  readonly last: number;
}

function definitionAround(
  root: SyntaxNode,
  lines: Lines,
  starts: readonly number[],
): readonly number[] | undefined {
  let found: Lines | undefined;
  let outer: Lines | undefined;
  for (let node: SyntaxNode | undefined = root; node; ) {
    const own = linesOf(node, starts);
    if (wrappers.has(node.type)) outer = own;
    else if (node !== root && isDefinition(node)) {
      found = outer ?? own;
      outer = undefined;
    } else if (node.type !== "variable_declarator") outer = undefined;
    node = node.children.find((child) => child.named && holds(linesOf(child, starts), lines));
  }
  if (!found || found.last - found.first >= maxLines) return undefined;
  return [found.first, found.last];
}

/** Also accepts a constant that holds a function. */
function isDefinition(node: SyntaxNode): boolean {
  if (definition.test(node.type)) return true;
  const isConstant = node.type === "lexical_declaration" || node.type === "variable_declaration";
  if (!isConstant) return false;
  return node.children.some((one) => values.test(one.field("value")?.type ?? ""));
}

function holds(outer: Lines, { first, last }: Lines): boolean {
  return outer.first <= first && outer.last >= last;
}

function linesOf(node: SyntaxNode, starts: readonly number[]): Lines {
  return { first: node.line, last: lineAt(Math.max(node.start, node.end - 1), starts) };
}

/** Offsets of the line starts. */
function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0 && at + 1 < text.length; at = text.indexOf("\n", at + 1))
    starts.push(at + 1);
  return starts;
}

function lineAt(offset: number, starts: readonly number[]): number {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
}
