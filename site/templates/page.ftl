<#-- A page: the Markdown file, beside the pages that docs/README.md names. -->
<#assign root = content.rootpath!"">
<#function linked html>
    <#return html?replace('(href="(?!\\w+:)[^"#]*)\\.md(?=["#])', '$1.html', 'r')>
</#function>
<#function plain html><#return html?replace('<[^>]*>', '', 'r')></#function>
<!DOCTYPE html>
<html lang="en">
<head>
    <meta charset="UTF-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${plain(content.body?keep_before("</h1>"))?trim} - SyncGuard</title>
    <link rel="stylesheet" href="${root}site.css">
    <script defer src="${root}lunr.js"></script>
    <script defer src="${root}sections.js"></script>
    <script defer src="${root}search.js" data-root="${root}"></script>
</head>
<body>
<header>
    <a href="${root}README.html">SyncGuard</a>
    <a href="${root}docs/README.html">Documentation</a>
    <a href="${root}apidocs/index.html">Javadoc</a>
    <input type="search" id="search" placeholder="Search" aria-label="Search" autocomplete="off">
</header>
<div id="page">
<nav aria-label="Pages">
<details open>
<summary>Pages</summary>
<#assign seen = [], group = "">
<#list published_content as each><#if each.uri == "docs/README.html">
<#list linked(each.body)?matches('<h2>(.*?)</h2>|<a href="(?!\\w+:)([^"#]+)">(.*?)</a>') as part>
<#if part?groups[1]?has_content><#assign group = plain(part?groups[1])>
<#elseif !seen?seq_contains(part?groups[2])>
<#assign seen = seen + [part?groups[2]]>
<#if group?has_content><h2>${group}</h2><#assign group = ""></#if>
<a href="${root}docs/${part?groups[2]}"<#if "docs/" + part?groups[2] == content.uri> aria-current="page"</#if>>${part?groups[3]}</a>
</#if>
</#list>
</#if></#list>
</details>
</nav>
<main>
<ol id="found" aria-live="polite" hidden></ol>
<article id="text">
${linked(content.body)?replace('<pre>', '<pre tabindex="0">')}
</article>
</main>
</div>
</body>
</html>
