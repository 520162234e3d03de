<#-- The text of each section of each page, with the address of its heading. -->
<#function plain html>
    <#return html?replace('(?s)<!--.*?-->|<[^>]*>', ' ', 'r')?replace('&lt;', '<')?replace('&gt;', '>')
        ?replace('&quot;', '"')?replace('&amp;', '&')?replace('\\s+', ' ', 'r')?trim>
</#function>
const SECTIONS = [
<#list published_content?sort_by("uri") as page>
<#list page.body?matches('(?s)<h[1-6]><a href="#[^"]*" id="([^"]*)">(.*?)</a></h[1-6]>(.*?)(?=<h[1-6]><a href="#|$)') as section>
["${page.uri}#${section?groups[1]}", "${plain(page.body?keep_before("</h1>"))?json_string}", "${plain(section?groups[2])?json_string}", "${plain(section?groups[3])?json_string}"],
</#list>
</#list>
];
